"use client";

import type { ReactNode } from "react";
import { isZero } from "@/components/features/overview/sums";

import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { HeldAmount, HideAmountsButton } from "@/components/ui/held-amount";
import { Card } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import type { Account } from "./account";
import { AccountState } from "./account-state";

const PARTS = [
  { part: "available", label: "Available", why: "can be paid out now" },
  { part: "pending", label: "Pending", why: "held for open payouts" },
  { part: "posted", label: "Posted", why: "sum of all entries" },
] as const;

interface BalanceCardProps {
  readonly account: Account;
  readonly onFund: () => void;
}

export const BalanceCard = ({ account, onFund }: BalanceCardProps): ReactNode => (
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
