"use client";

import type { ReactNode } from "react";
import { useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { DeskSkeleton } from "@/components/layout/desk-skeleton";
import { TransferDesk } from "./transfer-desk";

export const Transfer = (): ReactNode => {
  const setup = useSwapSetup();
  return (
    <>
      <PageHeader title="Transfer" description="Send a token to an address, on one chain or across two." />
      {setup.state === "loading" ? (
        <DeskSkeleton what="wallets and tokens" />
      ) : setup.state === "failed" ? (
        <Card flush>
          <ErrorState error={setup.error} onRetry={setup.retry} />
        </Card>
      ) : (
        <TransferDesk setup={setup.setup} />
      )}
    </>
  );
};
