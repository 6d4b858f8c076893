"use client";

import { ArrowDownToLine, ArrowUpFromLine, Send } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Tabs } from "@/components/ui/tabs";
import { getGlobalAccount, getReservesProof, getStatement, listEntries } from "@/lib/api-client/calls.gen";
import { accountName, type Account } from "./account";
import { AccountMenu } from "./account-menu";
import { BalanceCard } from "./balance-card";
import { EntriesCard } from "./entries-card";
import { FundDialog } from "./fund-dialog";
import { ProofCard } from "./proof-card";
import { StatementCard } from "./statement-card";
import { useAccount } from "./use-accounts";

const MONEY = "The money in the account is untouched.";
const VIEWS = ["entries", "statement", "proof"] as const;
const VIEW_PATHS = {
  entries: listEntries.path,
  statement: getStatement.path,
  proof: getReservesProof.path,
} as const satisfies Record<(typeof VIEWS)[number], string>;

export const AccountPage = ({ accountId }: { readonly accountId: string }): ReactNode => {
  const query = useAccount(accountId);
  const account = query.data;
  const [funding, setFunding] = useState(false);
  return (
    <>
      <PageHeader
        title={account === undefined ? "Account" : accountName(account)}
        description={<PublicId value={accountId} />}
        actions={
          <>
            <Link href="/accounts" className={buttonLooks()}>
              All accounts
            </Link>
            {account?.status === "active" ? (
              <>
                <Link href={`/payouts/new?from=${accountId}`} className={buttonLooks()}>
                  <Send aria-hidden /> Pay accounts
                </Link>
                <Link href={`/accounts/${accountId}/withdraw`} className={buttonLooks()}>
                  <ArrowUpFromLine aria-hidden /> Withdraw
                </Link>
                <Button variant="primary" onClick={() => setFunding(true)}>
                  <ArrowDownToLine aria-hidden /> Fund
                </Button>
              </>
            ) : null}
            {account === undefined ? null : <AccountMenu account={account} />}
          </>
        }
      />
      {query.isPending ? (
        <Card flush>
          <LoadingRows what="the account" rows={6} />
        </Card>
      ) : account === undefined ? (
        <Card flush>
          <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
        </Card>
      ) : (
        <div className="flex flex-col gap-4">
          {query.isError ? (
            <Alert tone="warning" title="The account could not be refreshed">
              You see the last known one. The page tries again automatically. {MONEY}
            </Alert>
          ) : null}
          {account.status === "active" || account.statusReason === null ? null : (
            <Alert tone="warning" title={`This account is ${account.status}`}>
              {account.statusReason}
            </Alert>
          )}
          <BalanceCard account={account} onFund={() => setFunding(true)} />
          <Views account={account} />
          <FundDialog account={account} open={funding} onOpenChange={setFunding} />
        </div>
      )}
    </>
  );
};

const Views = ({ account }: { readonly account: Account }): ReactNode => {
  const [view, setView] = useQueryState("view", parseAsStringLiteral(VIEWS).withDefault("entries"));
  return (
    <>
      <Tabs
        label="About the account"
        value={view}
        onValueChange={(next) => void setView(VIEWS.find((one) => one === next) ?? null)}
        tabs={[
          { value: "entries", label: "Entries", content: <EntriesCard account={account} /> },
          { value: "statement", label: "Statement", content: <StatementCard account={account} /> },
          { value: "proof", label: "Proof of inclusion", content: <ProofCard account={account} /> },
        ]}
      />
      <ApiSnippet method={getGlobalAccount.method} path={VIEW_PATHS[view].replace("{id}", account.id)} />
    </>
  );
};
