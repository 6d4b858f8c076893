import type { Metadata } from "next";
import type { ReactNode } from "react";
import { DecisionPage } from "@/components/features/inbox/decision-page";

export const metadata: Metadata = { title: "Approval" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <DecisionPage key={id} id={id} />;
};

export default Page;
