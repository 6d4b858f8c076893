"use client";

import Link from "next/link";
import { Fragment, type ReactNode } from "react";
import { Actor, useNames } from "@/components/features/names/names";
import { FeeLines } from "@/components/features/swap/fee-lines";
import { AddressGroups, AddressMark, shorten } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/marks";
import { CopyButton } from "@/components/ui/button";
import { Fact, Facts, Card } from "@/components/ui/card";
import { Time } from "@/components/ui/time";
import { isFinal } from "@/lib/core/status";
import {
  type AssetSum,
  networkFeesOf,
  type Payer,
  quotedFeesOf,
  sumByAsset,
} from "./operation-sums";
import type { Operation } from "./operation";

const PAID_BY: Readonly<Record<Payer, string>> = {
  sponsor: "paid by the project's sponsor",
  wallet: "paid by the wallet",
};
const ID_HEAD = 8;

interface ReceiptCardProps {
  readonly operation: Operation;
}

export const ReceiptCard = ({ operation }: ReceiptCardProps): ReactNode => (
  <Card title="Receipt">
    <Facts className="-my-2">
      <MoneyFacts operation={operation} />
      <Fact label="Started by">
        <Actor id={operation.createdBy} />
      </Fact>
      <TimeFacts operation={operation} />
      <RetryFacts operation={operation} />
    </Facts>
  </Card>
);

/** The lines about amounts, recipient and fees, which voters see too. */
export const MoneyFacts = ({ operation }: ReceiptCardProps): ReactNode => (
  <>
    <AmountFacts operation={operation} />
    <Fact label="To">
      <Recipient operation={operation} />
    </Fact>
    <Fact label="Fees, part of the rate">
      <FeeLines fees={quotedFeesOf(operation.fees)} known={operation.legs.length > 0} />
    </Fact>
    <NetworkFees operation={operation} />
  </>
);

const Sums = ({ sums }: { readonly sums: readonly AssetSum[] }): ReactNode =>
  sums.map((sum) => (
    <span key={sum.assetId} className="block">
      <Amount value={sum.amount} unit={sum.symbol} />
    </span>
  ));

/**
 * A final operation shows the received amount and the promised minimum. Before that, the minimum
 * and the expected amount are shown.
 */
const AmountFacts = ({
  operation: { quoted, actual, status, legs },
}: {
  readonly operation: Operation;
}): ReactNode => {
  const { to } = quoted;
  const symbol = to.token.symbol;
  const spent = sumByAsset(actual.spent);
  if (!isFinal(status)) {
    return (
      <>
        <Fact label={legs.length === 0 ? "You send" : "Sent"}>
          <Sums sums={sumByAsset(quoted.from)} />
        </Fact>
        <Fact label="Minimum received" strong>
          <Amount value={to.minAmount} unit={symbol} />
        </Fact>
        <Fact label="Expected">
          <Amount value={to.amount} unit={symbol} />
        </Fact>
        {legs.length === 0 ? null : (
          <Fact label="Received so far">
            <Amount value={actual.received.amount} unit={symbol} />
          </Fact>
        )}
      </>
    );
  }
  return (
    <>
      <Fact label="Sent">{spent.length === 0 ? "nothing" : <Sums sums={spent} />}</Fact>
      <Fact label="Received" strong>
        <Amount value={actual.received.amount} unit={actual.received.token.symbol} />
      </Fact>
      <Fact label="Promised">
        <Amount value={to.minAmount} unit={symbol} /> <span className="text-fg-3">minimum</span>
      </Fact>
    </>
  );
};

const Recipient = ({ operation: { quoted } }: { readonly operation: Operation }): ReactNode => {
  const name = useNames().ofAddress(quoted.to.address, quoted.to.chainId);
  return (
    <>
      <span className="inline-flex items-center gap-1.5">
        <AddressMark value={quoted.to.address} />
        {name === undefined ? null : <span className="font-medium">{name}</span>} on{" "}
        <ChainName chainId={quoted.to.chainId} />
      </span>
      <span className="block">
        <AddressGroups value={quoted.to.address} />{" "}
        <CopyButton value={quoted.to.address} label="Copy address" />
      </span>
    </>
  );
};

const NetworkFees = ({ operation }: { readonly operation: Operation }): ReactNode =>
  networkFeesOf(operation.fees).map(({ paidBy, sums }) => (
    <Fact key={paidBy} label="Network fee">
      {sums.map((sum) => (
        <Fragment key={sum.assetId}>
          <Amount value={sum.amount} unit={sum.symbol} />
          {", "}
        </Fragment>
      ))}
      {PAID_BY[paidBy]}
    </Fact>
  ));

const TimeFacts = ({ operation }: { readonly operation: Operation }): ReactNode => (
  <>
    <Fact label="Started">
      <Time value={operation.createdAt} absolute />
    </Fact>
    <Fact label={isFinal(operation.status) ? "Ended" : "Last change"}>
      <Time value={operation.updatedAt} absolute />
    </Fact>
    {operation.status === "pending" && operation.expiresAt !== null ? (
      <Fact label="Expires">
        <Time value={operation.expiresAt} absolute />
      </Fact>
    ) : null}
  </>
);

const RetryFacts = ({
  operation: { retryOf, retriedBy },
}: {
  readonly operation: Operation;
}): ReactNode => (
  <>
    {retryOf === null ? null : (
      <Fact label="Retries the failed parts of">
        <OperationLink id={retryOf} />
      </Fact>
    )}
    {retriedBy === null ? null : (
      <Fact label="Retried by">
        <OperationLink id={retriedBy} />
      </Fact>
    )}
  </>
);

const OperationLink = ({ id }: { readonly id: string }): ReactNode => (
  <span className="inline-flex items-center">
    <Link href={`/activity/${id}`} className="link font-mono text-sm">
      {shorten(id, ID_HEAD)}
    </Link>
    <CopyButton value={id} label="Copy id" />
  </span>
);
