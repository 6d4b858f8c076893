"use client";

import type { ReactNode } from "react";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import {
  NetworkFee,
  QuoteShell,
  type ReviewProps,
} from "@/components/features/money-flow/quote-shell";
import { useFormQuote } from "@/components/features/money-flow/use-form-quote";
import { useApi } from "@/components/features/session/use-api";
import { FeeLines, secondsText } from "@/components/features/swap/fee-lines";
import { WarningAlerts } from "@/components/features/warnings/warnings";
import { Amount } from "@/components/ui/amount";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { createTransfer } from "@/lib/api-client/calls.gen";
import type { TransferBody } from "./form-model";
import { destinationOf, pictureOf, type TransferRecord } from "./transfer-picture";

interface PriceCardProps extends ReviewProps<TransferRecord> {
  readonly view: ReturnType<typeof useTransfer>;
  /** Whether the card shows the error of the request. False when its fields show the error. */
  readonly showError: boolean;
}

export const PriceCard = ({ view, said, onReview, ...shell }: PriceCardProps): ReactNode => {
  const transfer = view.quote;
  if (transfer === null) return <QuoteShell {...shell} view={view} quote={null} />;
  return (
    <QuoteShell
      {...shell}
      view={view}
      quote={{
        expiresAt: transfer.expiresAt,
        minimum: {
          amount: transfer.minimum.amount,
          symbol: transfer.minimum.token.symbol,
        },
        picture: <QuotePicture quote={pictureOf(transfer, destinationOf(transfer))} />,
        facts: <TransferFacts transfer={transfer} />,
      }}
      onReview={() => onReview(transfer)}
    >
      <WarningAlerts warnings={transfer.warnings.filter(({ code }) => !said.has(code))} />
    </QuoteShell>
  );
};

const TransferFacts = ({ transfer }: { readonly transfer: TransferRecord }): ReactNode => (
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
);

/** The transfer for the typed values. It moves nothing until it is executed. */
export const useTransfer = (body: TransferBody | null) => {
  const api = useApi();
  return useFormQuote({
    contract: createTransfer,
    body,
    send: (request: TransferBody, signal) =>
      api.call(createTransfer, { body: request, signal }),
    // Each request creates another transfer, so a failed request is not repeated.
    retry: false,
  });
};
