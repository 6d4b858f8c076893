"use client";

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { FlowPicture } from "@/components/features/flow-picture/flow-picture";
import { operationFlow } from "@/components/features/flow-picture/operation-flow";
import { BalanceChanges } from "@/components/features/money-flow/balance-changes";
import { AvailableAfter } from "@/components/features/money-flow/receipt-parts";
import { Actor, useNames } from "@/components/features/names/names";
import { type Operation, operationQuery } from "@/components/features/operations/operation";
import { MoneyFacts } from "@/components/features/operations/receipt-card";
import { PayoutReceipt } from "@/components/features/payouts/approve-payout";
import { usePayout } from "@/components/features/payouts/payout";
import { recipientView, useKnownAddresses } from "@/components/features/transfer/recipient";
import { RecipientStanding } from "@/components/features/transfer/recipient-notes";
import { useChainName } from "@/components/providers/public-config";
import { Fact, Facts } from "@/components/ui/card";
import { useHideableText } from "@/components/ui/hidden-amounts";
import { Folded } from "@/components/ui/folded";
import { QueryContent } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { isPrivateKind } from "@/lib/contracts/privacy-records";
import { isFinal } from "@/lib/core/status";
import type { Decision } from "./decision";

const NOTHING_SENT = "Nothing was sent.";

interface ReceiptProps {
  readonly decision: Decision;
}

/**
 * Everything that a vote approves: the receipt that the maker of the movement saw, every approved
 * value in words, and who asked.
 */
export const DecisionReceipt = ({ decision }: ReceiptProps): ReactNode => (
  <div className="flex min-w-0 flex-col gap-3">
    <SubjectReceipt decision={decision} />
    <Facts>
      <Fact label="Asked for by">
        <Actor id={decision.requestedBy} name={decision.requestedByName} />
      </Fact>
      <Fact label="Since">
        <Time value={decision.createdAt} />
      </Fact>
      <Fact label="Ends by itself">
        <Time value={decision.expiresAt} />
      </Fact>
    </Facts>
    <ApprovedLines decision={decision} />
  </div>
);

const SubjectReceipt = ({ decision: { subject } }: ReceiptProps): ReactNode => {
  switch (subject.type) {
    case "operation":
      return <OperationReceipt id={subject.id} />;
    case "payout":
      return <LoadedPayoutReceipt id={subject.id} />;
    default:
      return null;
  }
};

const WITH_RECEIPT: readonly Decision["subject"]["type"][] = ["operation", "payout"];

/**
 * The texts that the code and the wallet's signature cover. They are folded below a receipt, which
 * shows the same values.
 */
const ApprovedLines = ({ decision: { lines, subject } }: ReceiptProps): ReactNode => {
  const hideable = useHideableText();
  const list = (
    <ul className="flex flex-col gap-1 text-sm text-fg-2" aria-label="What is approved">
      {lines.map((line, index) => (
        <li key={index} className="wrap-anywhere">
          {hideable(line)}
        </li>
      ))}
    </ul>
  );
  return WITH_RECEIPT.includes(subject.type) ? (
    <Folded title="The exact text that is approved">
      <div className="pt-3">{list}</div>
    </Folded>
  ) : (
    list
  );
};

/** Whether the money that the operation spends is still counted as available. */
const holdsNothing = ({ kind, status, legs }: Operation): boolean =>
  !isPrivateKind(kind) && !isFinal(status) && legs.length === 0;

const OperationReceipt = ({ id }: { readonly id: string }): ReactNode => {
  const query = useQuery(operationQuery(id));
  return (
    <QueryContent query={query} what="the receipt" rows={5} compact money={NOTHING_SENT}>
      {(operation) => (
        <>
          {isPrivateKind(operation.kind) ? null : <PublicParts operation={operation} />}
          <Facts>
            <MoneyFacts operation={operation} />
            {holdsNothing(operation) ? <AvailableAfter from={operation.quoted.from} /> : null}
          </Facts>
          {operation.quoted.balanceChanges.length === 0 ? null : (
            <BalanceChanges changes={operation.quoted.balanceChanges} />
          )}
        </>
      )}
    </QueryContent>
  );
};

const PublicParts = ({ operation }: { readonly operation: Operation }): ReactNode => {
  const chainName = useChainName();
  const { addressName } = useNames();
  const { address, chainId } = operation.quoted.to;
  const { known, complete } = useKnownAddresses(chainId);
  const nowMs = Date.parse(operation.updatedAt);
  return (
    <>
      <FlowPicture
        flow={operationFlow(operation, { chainName, addressName, events: [], nowMs })}
        label="Flow of the money"
      />
      <RecipientStanding view={recipientView(address, known)} complete={complete} />
    </>
  );
};

const LoadedPayoutReceipt = ({ id }: { readonly id: string }): ReactNode => {
  const query = usePayout(id);
  return (
    <QueryContent query={query} what="the receipt" rows={5} compact money="Nothing was paid.">
      {(payout) => <PayoutReceipt payout={payout} />}
    </QueryContent>
  );
};
