"use client";

import { useState, type ReactNode } from "react";
import { accountName } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import type { PayoutBody } from "./row-model";

const ROWS_SHOWN = 50;

interface RecipientListProps {
  readonly rows: PayoutBody["transfers"];
  readonly currency: string;
}

/** Whole ids, as a review needs them. */
export const RecipientList = ({ rows, currency }: RecipientListProps): ReactNode => {
  const [shown, setShown] = useState(ROWS_SHOWN);
  const names = new Map(useKnownAccounts().map((account) => [account.id, accountName(account)]));
  return (
    <section aria-label="Recipients" className="rounded-card border">
      <ol className="divide-y">
        {rows.slice(0, shown).map((row, index) => (
          <li key={index} className="flex flex-wrap items-baseline justify-between gap-x-4 px-3 py-2">
            <span className="min-w-0">
              <span className="block">{names.get(row.recipientAccountId) ?? "Account"}</span>
              <code className="block font-mono text-xs break-all text-fg-2">{row.recipientAccountId}</code>
              {row.reference === undefined ? null : (
                <span className="block text-sm [overflow-wrap:anywhere] text-fg-3">{row.reference}</span>
              )}
            </span>
            <Amount value={row.amount} unit={currency} className="ml-auto" />
          </li>
        ))}
      </ol>
      {shown < rows.length ? (
        <div className="flex justify-center border-t py-2">
          <Button size="sm" onClick={() => setShown(shown + ROWS_SHOWN)}>
            Show more ({(rows.length - shown).toLocaleString("en")} left)
          </Button>
        </div>
      ) : null}
    </section>
  );
};
