"use client";

import { ArrowRight } from "lucide-react";
import { useId, type ReactNode } from "react";
import type { QuotedFlow } from "@/components/features/flow-picture/quote-flow";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { NetworkFee } from "@/components/features/money-flow/network-fee";
import { SHORTAGE_REASON, ShortageAlert } from "@/components/features/money-flow/shortage-alert";
import type { Shortage } from "@/components/features/money-flow/spendable";
import { RefusedPrice, refusedImpact } from "@/components/features/money-flow/refused-price";
import { FeeLines } from "@/components/features/swap/fee-lines";
import { secondsText } from "@/components/features/swap/seconds-text";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { ChainName } from "@/components/ui/chain-name";
import { cn } from "@/components/ui/cn";
import { Countdown } from "@/components/ui/countdown";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Fact, Facts, Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { pictureOf } from "./transfer-picture";
import type { TransferRecord, TransferView } from "./use-transfer";

interface PriceCardProps {
  readonly view: TransferView;
  /** More is asked for than may be moved; null where it is not so. */
  readonly shortage: Shortage | null;
  /** Another reason that prevents the review, in a sentence; null when there is none. */
  readonly obstacle: string | null;
  readonly onReview: (transfer: TransferRecord) => void;
  /** Accepts this price impact; the quote can then be asked for again. */
  readonly onAcceptImpact: (bps: number) => void;
}

const reasonOf = ({ view, shortage, obstacle }: PriceCardProps): string | null => {
  if (shortage !== null) return SHORTAGE_REASON;
  if (view.loading) return "The quote is on its way.";
  if (view.error !== null) return "Correct the form; the quote then updates.";
  if (view.transfer === null) return "Complete the form.";
  if (view.outdated) return "Complete the form.";
  if (view.expired) return "This quote has expired; ask for a new one.";
  return obstacle;
};

/** The amount that arrives, the costs and the duration; and the button that opens the review. */
export const PriceCard = (props: PriceCardProps): ReactNode => {
  const { view, shortage, onReview, onAcceptImpact } = props;
  const { transfer } = view;
  const reason = reasonOf(props);
  const reasonId = useId();
  const refused = refusedImpact(view.error);
  return (
    <Card title="Receipt" flush actions={<State view={view} />}>
      <div role="status" className="sr-only">
        {transfer === null || view.outdated
          ? ""
          : `Minimum received ${transfer.minimum.amount} ${transfer.minimum.token.symbol}.`}
      </div>
      {transfer !== null ? (
        <AmountsShownProvider value>
          <TransferFacts transfer={transfer} outdated={view.outdated} />
        </AmountsShownProvider>
      ) : view.loading ? (
        <LoadingRows what="the quote" />
      ) : view.error === null ? (
        <EmptyState title="No quote yet">The quote appears as soon as the form is complete.</EmptyState>
      ) : null}
      {shortage === null ? null : (
        <div className="p-4">
          <ShortageAlert shortage={shortage} />
        </div>
      )}
      {refused !== null ? (
        <div className="p-4">
          <RefusedPrice key={refused} bps={refused} onAccept={onAcceptImpact} />
        </div>
      ) : view.error === null || view.fieldErrors.complete ? null : (
        <div className="p-4">
          <ErrorState compact error={view.error} money="Nothing was sent." onRetry={view.make} />
        </div>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2 border-t px-4 py-3">
        <p id={reasonId} className="mr-auto text-sm text-fg-3">
          {reason}
        </p>
        <Button type="submit">{transfer === null ? "Get quote" : "Refresh quote"}</Button>
        <Button
          variant="primary"
          disabled={reason !== null}
          aria-describedby={reasonId}
          onClick={() => (transfer === null ? undefined : onReview(transfer))}
        >
          Review <ArrowRight aria-hidden />
        </Button>
      </div>
    </Card>
  );
};

const State = ({ view: { transfer, outdated, onExpire } }: Pick<PriceCardProps, "view">): ReactNode => {
  if (transfer === null) return null;
  if (outdated) return <Badge tone="warning">Out of date</Badge>;
  if (transfer.expiresAt === null) return null;
  return <Countdown until={transfer.expiresAt} label="Expires in" onExpire={onExpire} className="text-fg-2" />;
};

interface TransferFactsProps {
  readonly transfer: TransferRecord;
  readonly outdated: boolean;
}

const destinationOf = ({ toAddress, toChainId, expected, minimum }: TransferRecord): QuotedFlow["to"] => ({
  address: toAddress,
  chainId: toChainId,
  amount: expected.amount,
  minAmount: minimum.amount,
  token: expected.token,
});

const TransferFacts = ({ transfer, outdated }: TransferFactsProps): ReactNode => (
  <div className={cn("flex flex-col gap-3 px-4 py-1", outdated && "bg-sunken")}>
    {outdated ? null : <QuotePicture quote={pictureOf(transfer, destinationOf(transfer))} />}
    <Facts>
      <Fact label="Minimum received" strong>
        <Amount value={transfer.minimum.amount} unit={transfer.minimum.token.symbol} />
      </Fact>
      <Fact label="Expected">
        <Amount value={transfer.expected.amount} unit={transfer.expected.token.symbol} />
      </Fact>
      <Fact label="Route">
        <ChainName chainId={transfer.fromChainId} /> <span aria-label="to">→</span>{" "}
        <ChainName chainId={transfer.toChainId} />
      </Fact>
      <Fact label="Fees, taken off already">
        <FeeLines fees={transfer.fees} />
      </Fact>
      <Fact label="Network fee">
        <NetworkFee paidBy={[transfer.networkFeePaidBy]} />
      </Fact>
      <Fact label="Takes about">
        <span className="num">{secondsText(transfer.estimatedSeconds)}</span>
      </Fact>
    </Facts>
    {outdated
      ? null
      : transfer.warnings.map((warning) => (
          <Alert key={warning.code + warning.message} tone="warning" className="mb-2">
            {warning.message}
          </Alert>
        ))}
  </div>
);
