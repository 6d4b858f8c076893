import type { Metadata } from "next";
import type { ReactNode } from "react";
import { TransferPage } from "@/components/features/private/detail/transfer-page";

export const metadata: Metadata = { title: "Private operation" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <TransferPage key={id} transferId={id} />;
};

export default Page;
