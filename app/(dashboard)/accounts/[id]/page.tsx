import type { Metadata } from "next";
import type { ReactNode } from "react";
import { AccountPage } from "@/components/features/global-accounts/account-page";

export const metadata: Metadata = { title: "Global account" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <AccountPage key={id} accountId={id} />;
};

export default Page;
