"use client";

import type { ReactNode } from "react";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { DeskSkeleton } from "@/components/layout/desk-skeleton";
import { SwapDesk } from "./swap-desk";
import { useSwapSetup } from "./use-swap-setup";

export const Swap = (): ReactNode => {
  const setup = useSwapSetup();
  return (
    <>
      <PageHeader
        title="Swap"
        description="From one or several wallets and chains into one token on one chain, as one operation."
      />
      {setup.state === "loading" ? (
        <DeskSkeleton what="wallets and tokens" />
      ) : setup.state === "failed" ? (
        <Card flush>
          <ErrorState error={setup.error} onRetry={setup.retry} />
        </Card>
      ) : (
        <SwapDesk setup={setup.setup} />
      )}
    </>
  );
};
