import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { PayoutPage } from "@/components/features/payouts/payout-page";
import { payoutQuery } from "@/components/features/payouts/use-payouts";

export const metadata: Metadata = { title: "Payout" };

export default recordPage((id) => (
  <Prefetched queries={[payoutQuery(id)]}>
    <PayoutPage key={id} payoutId={id} />
  </Prefetched>
));
