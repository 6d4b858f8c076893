"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useSwapSetup } from "@/components/features/swap/use-swap-setup";
import { DeskSkeleton } from "@/components/layout/desk-skeleton";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { accountName } from "../account";
import { useAccount } from "../use-accounts";
import { WithdrawDesk } from "./withdraw-desk";

const MONEY = "The money in the account is untouched.";

/** Pays out a part of an account's money to an address. */
export const WithdrawPage = ({ accountId }: { readonly accountId: string }): ReactNode => {
  const query = useAccount(accountId);
  const setup = useSwapSetup();
  const account = query.data;
  return (
    <>
      <PageHeader
        title={account === undefined ? "Withdraw" : `Withdraw from ${accountName(account)}`}
        description="Pays out of the account to an address on a chain."
        actions={
          <Link href={`/accounts/${accountId}`} className={buttonLooks()}>
            Back to the account
          </Link>
        }
      />
      {account !== undefined && account.status !== "active" ? (
        <Alert tone="warning" title={`This account is ${account.status}`}>
          Nothing leaves it. {account.statusReason}
        </Alert>
      ) : query.isError && account === undefined ? (
        <Card flush>
          <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
        </Card>
      ) : setup.state === "failed" ? (
        <Card flush>
          <ErrorState error={setup.error} money={MONEY} onRetry={setup.retry} />
        </Card>
      ) : account === undefined || setup.state === "loading" ? (
        <DeskSkeleton what="the account" />
      ) : (
        <WithdrawDesk account={account} setup={setup.setup} />
      )}
    </>
  );
};
