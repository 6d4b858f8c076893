import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { WithdrawPage } from "@/components/features/global-accounts/withdraw/withdraw-page";
import { accountQuery } from "@/components/features/global-accounts/account";

export const metadata: Metadata = { title: "Withdraw" };

export default recordPage((id) => (
  <Prefetched queries={[accountQuery(id)]}>
    <WithdrawPage key={id} accountId={id} />
  </Prefetched>
));
