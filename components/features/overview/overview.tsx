"use client";

import dynamic from "next/dynamic";
import Link from "next/link";
import type { ReactNode } from "react";
import { RunningParts } from "@/components/features/system/running-parts";
import { usePublicConfig } from "@/components/providers/public-config";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { PageHeader } from "@/components/ui/page-header";
import { Skeleton } from "@/components/ui/skeleton";
import { WhenSeen } from "@/components/ui/when-seen";
import { Alerts } from "./alerts";
import { BalancesCard } from "./balances-card";
import { FirstRun } from "./first-run";
import { FlowsCard } from "./flows-card";
import { LatestActivity } from "./latest-activity";
import { MovingCard } from "./moving-card";
import { TotalCard } from "./total-card";
import { WaitingCard } from "./waiting-card";

const FAUCET_TITLE = "Get test tokens";

// A form below the fold, only on local chains; its code comes when somebody scrolls there.
const FaucetPanel = dynamic(
  () => import("@/components/features/faucet/faucet-panel").then((module) => module.FaucetPanel),
  {
    ssr: false,
    loading: () => (
      <Card title={FAUCET_TITLE}>
        <Skeleton className="h-50" />
      </Card>
    ),
  },
);

/** As large, and still: nothing is loading until somebody scrolls there. */
const FAUCET_SPACE = (
  <Card title={FAUCET_TITLE}>
    <div className="h-50" />
  </Card>
);

const ROW = "grid grid-cols-1 items-stretch gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]";

/** The first page: balances, tasks that wait for the person, and moves under way; below them, the history. */
export const Overview = (): ReactNode => {
  const { devnet } = usePublicConfig();
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <>
            <Link href="/receive" className={buttonLooks()}>
              Receive
            </Link>
            <Link href="/payouts/new" className={buttonLooks()}>
              New payout
            </Link>
            <Link href="/swap" className={buttonLooks({ variant: "primary" })}>
              Swap
            </Link>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <Alerts />
        <FirstRun />
        <div className={ROW}>
          <TotalCard />
          <WaitingCard />
        </div>
        <div className={ROW}>
          <MovingCard />
          <FlowsCard />
        </div>
        <BalancesCard />
        <LatestActivity />
        <div className={ROW}>
          {devnet ? (
            <WhenSeen placeholder={FAUCET_SPACE}>
              <FaucetPanel />
            </WhenSeen>
          ) : null}
          <RunningParts />
        </div>
      </div>
    </>
  );
};
