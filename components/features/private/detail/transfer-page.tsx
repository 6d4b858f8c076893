"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { LegCard } from "@/components/features/operations/leg-card";
import { RawJson } from "@/components/features/operations/raw-json";
import type { Operation } from "@/components/features/operations/types";
import { useOperation } from "@/components/features/operations/use-operation";
import { PublicId } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { Alert } from "@/components/ui/alert";
import { buttonLooks } from "@/components/ui/button-looks";
import { ErrorState } from "@/components/ui/error-state";
import { useHideableText } from "@/components/ui/hideable-text";
import { useLocale } from "@/components/ui/use-locale";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { StatusBadge } from "@/components/ui/status-badge";
import { getPrivateTransfer } from "@/lib/api-client/calls.gen";
import { pictureAmount } from "../amounts";
import { Honesty } from "../honesty";
import { KIND_WORDS } from "../kind-words";
import { usePrivateNames, type PrivateNames } from "../names";
import { ObserverCard } from "../observer/observer-card";
import type { PrivateTransfer } from "../types";
import { usePrivateTransfer } from "../use-private";
import { ProofProgress } from "./proof-progress";
import { observedOf, sentenceOf } from "./stage";
import { StepsCard } from "./steps-card";
import { TransferActions } from "./transfer-actions";
import { TransferFacts } from "./transfer-facts";

const MONEY = "The operation continues without this page.";

/** One private operation, live: pictures, proof, steps, receipt and actions. */
export const TransferPage = ({ transferId }: { readonly transferId: string }): ReactNode => {
  const query = usePrivateTransfer(transferId);
  if (query.data !== undefined) return <LoadedTransfer transfer={query.data} stale={query.isError} />;
  return (
    <>
      <PageHeader title="Private operation" description={<PublicId value={transferId} full />} actions={<BackLink />} />
      <Card flush>
        {query.isPending ? (
          <LoadingRows what="the operation" rows={6} />
        ) : (
          <ErrorState error={query.error} money={MONEY} onRetry={() => void query.refetch()} />
        )}
      </Card>
    </>
  );
};

const BackLink = (): ReactNode => (
  <Link href="/private" className={buttonLooks()}>
    Private balances
  </Link>
);

/** `25 USDC → Acme GmbH`. */
type AmountText = typeof pictureAmount;

const titleOf = (transfer: PrivateTransfer, names: PrivateNames, text: AmountText): string => {
  const { amount, kind, received, minimum } = transfer;
  const sent = text(amount.amount, amount.token.symbol);
  if (kind === "private_swap") {
    const out = received ?? minimum ?? amount;
    return `${sent} → ${received === null ? "at least " : ""}${text(out.amount, out.token.symbol)}`;
  }
  return `${sent} → ${kind === "shield" ? names.walletName(transfer.privacyWalletId) : names.recipientName(transfer)}`;
};

const LoadedTransfer = ({
  transfer,
  stale,
}: {
  readonly transfer: PrivateTransfer;
  readonly stale: boolean;
}): ReactNode => {
  const names = usePrivateNames();
  const hideable = useHideableText();
  const locale = useLocale();
  const text: AmountText = (amount, symbol) => hideable(pictureAmount(amount, symbol, locale));
  const { query, events } = useOperation(transfer.operationId);
  const operation = query.data;
  const observed = observedOf(transfer, {
    wallet: names.walletName(transfer.privacyWalletId),
    recipient: names.recipientName(transfer),
    amount: text,
  });
  return (
    <>
      <PageHeader
        title={titleOf(transfer, names, text)}
        description={
          <span className="inline-flex flex-wrap items-center gap-x-2 gap-y-1">
            {KIND_WORDS[transfer.kind]} <PublicId value={transfer.transferId} />
            <StatusBadge status={transfer.status} subStatus={transfer.subStatus} />
          </span>
        }
        actions={
          <>
            <TransferActions transfer={transfer} operation={operation} names={names} />
            <BackLink />
          </>
        }
      />
      <div className="flex flex-col gap-4">
        {stale ? (
          <Alert tone="warning" title="The state could not be refreshed">
            You see the last known one. The page tries again automatically. {MONEY}
          </Alert>
        ) : null}
        <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,7fr)_minmax(0,5fr)]">
          <div className="flex min-w-0 flex-col gap-4">
            <NowCard transfer={transfer} operation={operation} />
            <ObserverCard observed={observed} />
            {operation === undefined || operation.legs.length === 0 ? (
              <StepsCard transfer={transfer} />
            ) : (
              operation.legs.map((leg) => (
                <LegCard
                  key={leg.id}
                  operationId={operation.operationId}
                  leg={leg}
                  toChainId={transfer.chainId}
                  delayed={operation.subStatus === "delayed"}
                  events={events}
                />
              ))
            )}
          </div>
          <Card title="Receipt" className="lg:sticky lg:top-16">
            <div className="flex flex-col gap-3">
              <TransferFacts transfer={transfer} names={names} />
              <Honesty engine={transfer.engine} setSize={transfer.anonymitySet} staysPublic={transfer.staysPublic} />
            </div>
          </Card>
        </div>
        <RawJson value={transfer} />
        <ApiSnippet method={getPrivateTransfer.method} path={`/privacy/transfers/${transfer.transferId}`} />
      </div>
    </>
  );
};

/** Each part of the money, and where it is. */
const WhereItIs = ({ operation: { outcome } }: { readonly operation: Operation }): ReactNode => (
  <p className="text-fg-2">
    <strong className="font-medium text-fg">Where the money is now.</strong>{" "}
    {outcome.holds.map(({ amount, token, note }, index) => (
      <span key={index}>
        <Amount value={amount} unit={token.symbol} plain /> {note}.{" "}
      </span>
    ))}
  </p>
);

interface NowCardProps {
  readonly transfer: PrivateTransfer;
  readonly operation: Operation | undefined;
}

/** Tells the present step, the progress of the proof, where the money is, and the reason of a failure. */
const NowCard = ({ transfer, operation }: NowCardProps): ReactNode => {
  const sentence = sentenceOf(transfer);
  const waits = transfer.subStatus === "awaiting_approval" && transfer.status === "pending";
  return (
    <Card>
      <div className="flex flex-col gap-3">
        <p role="status" className="text-lg font-medium">
          {sentence}
        </p>
        {transfer.proof === null ? null : <ProofProgress proof={transfer.proof} />}
        {waits ? (
          <p className="text-fg-2">It runs once it is approved. Until then you can cancel it.</p>
        ) : operation === undefined ? null : (
          <>
            <WhereItIs operation={operation} />
            <p className="text-fg-2">{operation.outcome.nextAction}</p>
          </>
        )}
        {transfer.failure === null ? null : (
          <Alert tone="danger" title="Why it failed">
            {transfer.failure.message} <code className="font-mono text-sm text-fg-2">{transfer.failure.code}</code>
          </Alert>
        )}
      </div>
    </Card>
  );
};
