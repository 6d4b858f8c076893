"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { FaucetPanel } from "@/components/features/faucet/faucet-panel";
import { RunningParts } from "@/components/features/system/running-parts";
import { usePublicConfig } from "@/components/providers/public-config";
import { buttonLooks } from "@/components/ui/button-looks";
import { PageHeader } from "@/components/ui/page-header";
import { BalancesCard } from "./balances-card";
import { FirstRun } from "./first-run";
import { LatestActivity } from "./latest-activity";
import { OpenOperations } from "./open-operations";
import { TotalCard } from "./total-card";

export const Overview = (): ReactNode => {
  const { devnet } = usePublicConfig();
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <Link href="/swap" className={buttonLooks({ variant: "primary" })}>
            New swap
          </Link>
        }
      />
      <div className="flex flex-col gap-4">
        <FirstRun />
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
          <div className="flex min-w-0 flex-col gap-4">
            <TotalCard />
            <BalancesCard />
            <LatestActivity />
          </div>
          <div className="flex min-w-0 flex-col gap-4">
            <OpenOperations />
            {devnet ? <FaucetPanel /> : null}
            <RunningParts />
          </div>
        </div>
      </div>
    </>
  );
};
