import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { BalancesPage } from "@/components/features/balances/balances-page";
import {
  balanceHistoryQuery,
  HISTORY_DAYS,
  balancesQuery,
} from "@/components/features/balances/use-balances";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Balances" };

const Page = (): ReactNode => (
  <Prefetched queries={[balancesQuery, balanceHistoryQuery(HISTORY_DAYS), walletsQuery]}>
    <BalancesPage />
  </Prefetched>
);

export default Page;
