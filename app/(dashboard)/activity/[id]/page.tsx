import type { Metadata } from "next";
import type { ReactNode } from "react";
import { OperationPage } from "@/components/features/operations/operation-page";

export const metadata: Metadata = { title: "Operation" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  // Another operation starts with a stream and a record of its own.
  return <OperationPage key={id} operationId={id} />;
};

export default Page;
