"use client";

import type { ReactNode } from "react";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Sheet } from "@/components/ui/sheet";
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
        <Sheet flush>
          <LoadingRows what="wallets and tokens" rows={5} />
        </Sheet>
      ) : setup.state === "failed" ? (
        <Sheet flush>
          <ErrorState error={setup.error} onRetry={setup.retry} />
        </Sheet>
      ) : (
        <SwapDesk setup={setup.setup} />
      )}
    </>
  );
};
