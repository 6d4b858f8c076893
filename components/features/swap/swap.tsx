"use client";

import type { ReactNode } from "react";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
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
        <Card flush>
          <LoadingRows what="wallets and tokens" rows={5} />
        </Card>
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
