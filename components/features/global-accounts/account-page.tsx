"use client";

import { ArrowDownToLine, ArrowUpFromLine, Send } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { isZero } from "@/components/features/swap/decimal";
import { PublicId } from "@/components/ui/address";
import { Alert } from "@/components/ui/alert";
import { HeldAmount, HideAmountsButton } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { PageHeader } from "@/components/ui/page-header";
import { DetailPage } from "@/components/ui/states";
import { Tabs } from "@/components/ui/tabs";
import { Time } from "@/components/ui/time";
import { getReservesProof, getStatement, listEntries } from "@/lib/api-client/calls.gen";
import type { Callable } from "@/lib/contracts/contract";
import { type Account, accountName, useAccount } from "./account";
import { AccountMenu } from "./account-menu";
import { AccountState } from "./account-state";
import { EntriesCard } from "./entries-card";
import { FundDialog } from "./fund-dialog";
import { ProofCard } from "./proof-card";
import { StatementCard } from "./statement-card";

const MONEY = "The money in the account is untouched.";
const VIEWS = ["entries", "statement", "proof"] as const;
const VIEW_CALLS = {
  entries: listEntries,
  statement: getStatement,
  proof: getReservesProof,
} as const satisfies Record<(typeof VIEWS)[number], Callable>;

export const AccountPage = ({ accountId }: { readonly accountId: string }): ReactNode => {
  const query = useAccount(accountId);
  const account = query.data;
  const [funding, setFunding] = useState(false);
  return (
    <DetailPage
      header={
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
      }
      query={query}
      what="the account"
      money={MONEY}
      stale="The account could not be refreshed"
    >
      {(account) => (
        <>
          {account.status === "active" || account.statusReason === null ? null : (
            <Alert tone="warning" title={`This account is ${account.status}`}>
              {account.statusReason}
            </Alert>
          )}
          <BalanceCard account={account} onFund={() => setFunding(true)} />
          <Views account={account} />
          {funding ? <FundDialog account={account} onClose={() => setFunding(false)} /> : null}
        </>
      )}
    </DetailPage>
  );
};

const Views = ({ account }: { readonly account: Account }): ReactNode => {
  const [view, setView] = useQueryState(
    "view",
    parseAsStringLiteral(VIEWS).withDefault("entries"),
  );
  return (
    <>
      <Tabs
        label="About the account"
        value={view}
        onValueChange={(next) => void setView(VIEWS.find((one) => one === next) ?? null)}
        tabs={[
          { value: "entries", label: "Entries", content: <EntriesCard account={account} /> },
          {
            value: "statement",
            label: "Statement",
            content: <StatementCard account={account} />,
          },
          {
            value: "proof",
            label: "Proof of inclusion",
            content: <ProofCard account={account} />,
          },
        ]}
      />
      <ApiSnippet call={VIEW_CALLS[view]} params={{ id: account.id }} />
    </>
  );
};

const PARTS = [
  { part: "available", label: "Available", why: "can be paid out now" },
  { part: "pending", label: "Pending", why: "held for open payouts" },
  { part: "posted", label: "Posted", why: "sum of all entries" },
] as const;

interface BalanceCardProps {
  readonly account: Account;
  readonly onFund: () => void;
}

const BalanceCard = ({ account, onFund }: BalanceCardProps): ReactNode => (
  <Card
    title={
      <span className="flex flex-wrap items-center gap-2">
        Balance <AccountState account={account} />
      </span>
    }
    actions={<HideAmountsButton size="sm" />}
    flush
  >
    <dl className="grid grid-cols-1 divide-y lg:grid-cols-3 lg:divide-x lg:divide-y-0">
      {PARTS.map(({ part, label, why }) => (
        <div
          key={part}
          className="grid grid-cols-[auto_1fr] items-center gap-x-4 px-4 py-2 lg:flex lg:flex-col lg:items-start lg:py-3"
        >
          <dt className="text-fg-2">{label}</dt>
          <dd
            className={cn(
              "text-right text-xl max-lg:col-start-2 max-lg:row-span-2 max-lg:row-start-1",
              part === "available" && "font-semibold",
            )}
          >
            <HeldAmount value={account.balance[part]} unit={account.currency} />
          </dd>
          <dd className="text-sm text-fg-3">{why}</dd>
        </div>
      ))}
    </dl>
    <p className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t px-4 py-2 text-sm text-fg-3">
      <span>
        Opened <Time value={account.createdAt} absolute />
      </span>
      <span>
        Asset <code className="font-mono">{account.assetId}</code>
      </span>
      {account.status === "active" && isZero(account.balance.posted) ? (
        <span className="ml-auto">
          Nothing is in it yet.{" "}
          <Button variant="link" className="h-6" onClick={onFund}>
            Fund it
          </Button>
        </span>
      ) : null}
    </p>
  </Card>
);
