import type { Metadata } from "next";
import { listPage } from "@/app/_data/pages";
import { Prefetched } from "@/app/_data/prefetched";
import { Accounts } from "@/components/features/global-accounts/accounts";
import { accountPages } from "@/components/features/global-accounts/account";
import { tokensQuery } from "@/components/features/swap/tokens";

export const metadata: Metadata = { title: "Global accounts" };

export default listPage((isPlain) => (
  <Prefetched queries={isPlain ? [accountPages({ q: null, currency: null }), tokensQuery] : []}>
    <Accounts />
  </Prefetched>
));
