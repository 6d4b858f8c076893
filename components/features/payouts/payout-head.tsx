"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { accountName, shortId } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { CopyButton } from "@/components/ui/copy-button";
import { Fact, Facts, Sheet } from "@/components/ui/sheet";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import { awaitsApproval, type Payout } from "./payout";
import { PayoutActions } from "./payout-actions";
import { PayoutProgress } from "./payout-progress";
import { PayoutStatus } from "./payout-status";

/** The state, how far it is, what to do, and why it failed where it did. */
export const PayoutHead = ({ payout }: { readonly payout: Payout }): ReactNode => (
  <Sheet
    title={
      <span className="flex flex-wrap items-center gap-2">
        Status <PayoutStatus payout={payout} />
      </span>
    }
  >
    <PayoutProgress payout={payout} />
    <p className="pt-2 text-fg-2">
      {awaitsApproval(payout) ? "Approve it with a one-time code, or cancel it." : payout.nextAction}
    </p>
    <PayoutActions payout={payout} />
    {payout.failure === null ? null : (
      <div className="pt-3">
        <Alert tone="danger" title="What went wrong">
          {payout.failure.message} <code className="font-mono text-sm text-fg-2">{payout.failure.code}</code>
        </Alert>
      </div>
    )}
    <PayoutFacts payout={payout} />
  </Sheet>
);

const PayoutFacts = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const source = useKnownAccounts().find(({ id }) => id === payout.sourceAccountId);
  return (
    <Facts className="mt-3 border-t">
      <Fact label="From">
        <span className="inline-flex items-center gap-0.5">
          <Link href={`/accounts/${payout.sourceAccountId}`} className="link" title={payout.sourceAccountId}>
            {source === undefined ? shortId(payout.sourceAccountId) : accountName(source)}
          </Link>
          <CopyButton value={payout.sourceAccountId} label="Copy id of the source account" />
        </span>
      </Fact>
      <Fact label="Total" strong>
        <Amount value={payout.total} unit={payout.currency} />
      </Fact>
      <Fact label="Paid">
        <Amount value={payout.paid} unit={payout.currency} />
      </Fact>
      <Fact label="If a row cannot be paid">
        {payout.mode === "independent" ? "the others are paid" : "none is paid"}
      </Fact>
      <Fact label="Created">
        <Time value={payout.createdAt} absolute />
      </Fact>
      <Fact label={isFinal(payout.status) ? "Ended" : "Last change"}>
        <Time value={payout.updatedAt} absolute />
      </Fact>
      <Fact label="Asked for by">
        <code className="font-mono text-sm break-all">{payout.createdBy}</code>
      </Fact>
      {payout.retryOf === null ? null : (
        <Fact label="Tries again what failed in">
          <Link href={`/payouts/${payout.retryOf}`} className="link font-mono text-sm" title={payout.retryOf}>
            {shortId(payout.retryOf)}
          </Link>
        </Fact>
      )}
      {payout.status === "pending" && payout.expiresAt !== null ? (
        <Fact label="Ends by itself, with nothing paid">
          <Time value={payout.expiresAt} absolute />
        </Fact>
      ) : null}
    </Facts>
  );
};
