import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Overview } from "@/components/features/overview/overview";
import {
  balanceHistoryQuery,
  HISTORY_DAYS,
  balancesQuery,
} from "@/components/features/balances/use-balances";
import { newestPayoutsQuery } from "@/components/features/payouts/use-payouts";
import { apiKeysQuery } from "@/components/features/api-keys/use-api-keys";
import {
  completedSwapQuery,
  latestOperationsQuery,
  movingOperationsQuery,
} from "@/components/features/operations/operation";
import { inboxQuery } from "@/components/features/inbox/looks";
import { tokensQuery } from "@/components/features/swap/tokens";
import { walletsQuery } from "@/components/features/wallets/use-wallets";

export const metadata: Metadata = { title: "Overview" };

const OverviewPage = (): ReactNode => (
  <Prefetched
    queries={[
      balancesQuery,
      balanceHistoryQuery(HISTORY_DAYS),
      walletsQuery,
      apiKeysQuery,
      inboxQuery,
      newestPayoutsQuery(1),
      tokensQuery,
      latestOperationsQuery,
      movingOperationsQuery,
      completedSwapQuery,
    ]}
  >
    <Overview />
  </Prefetched>
);

export default OverviewPage;
