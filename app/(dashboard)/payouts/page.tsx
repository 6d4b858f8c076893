import type { Metadata } from "next";
import { listPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { Payouts } from "@/components/features/payouts/payouts";
import { payoutPages } from "@/components/features/payouts/use-payouts";

export const metadata: Metadata = { title: "Payouts" };

export default listPage((isPlain) => (
  <Prefetched queries={isPlain ? [payoutPages({ status: null, kind: null })] : []}>
    <Payouts />
  </Prefetched>
));
