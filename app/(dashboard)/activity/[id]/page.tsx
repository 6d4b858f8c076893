import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { OperationPage } from "@/components/features/operations/operation-page";
import { operationQuery } from "@/components/features/operations/operation";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Operation" };

// The key remounts the page for another id, so that it opens a new event stream and starts with
// empty state.
export default recordPage((id) => (
  <Prefetched queries={[operationQuery(id), walletsQuery]}>
    <OperationPage key={id} operationId={id} />
  </Prefetched>
));
