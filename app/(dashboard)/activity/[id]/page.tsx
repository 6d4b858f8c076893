import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { operationQueries } from "@/app/_data/queries";
import { OperationPage } from "@/components/features/operations/operation-page";

export const metadata: Metadata = { title: "Operation" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  // Another operation starts with a stream and a record of its own.
  return (
    <Prefetched queries={operationQueries(id)}>
      <OperationPage key={id} operationId={id} />
    </Prefetched>
  );
};

export default Page;
