import type { Metadata } from "next";
import { recordPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { AccountPage } from "@/components/features/global-accounts/account-page";
import { accountQuery } from "@/components/features/global-accounts/account";

export const metadata: Metadata = { title: "Global account" };

export default recordPage((id) => (
  <Prefetched queries={[accountQuery(id)]}>
    <AccountPage key={id} accountId={id} />
  </Prefetched>
));
