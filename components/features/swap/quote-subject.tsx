"use client";

import type { ReactNode } from "react";
import { z } from "zod";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { actText, askText } from "@/components/features/money-flow/act-text";
import { ReceiptParty, ReceiptRecipient } from "@/components/features/money-flow/receipt-parts";
import type { MovePromise, MoveSubject } from "@/components/features/money-flow/types";
import { sumByAsset } from "@/components/features/operations/operation-sums";
import { Amount } from "@/components/ui/amount";
import { Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { quoteRecord } from "@/lib/contracts/quote-records";
import { compareAmounts } from "./decimal";
import { FeeLines } from "./fee-lines";
import { movedQuoteOf } from "./quote-change";
import { RateText } from "./quote-facts";
import type { Quote } from "./tokens";

const ACTS = { swap: "Swap", transfer: "Pay", retry: "Retry" } as const;

/**
 * Converts a quote to the subject of the flow that approves and executes it. `noun` is `retry` for
 * the quote of a retried operation.
 */
export const subjectOfQuote = (
  quote: Quote,
  noun: MoveSubject["noun"] = "swap",
): MoveSubject => ({
  ids: { quoteId: quote.quoteId },
  noun,
  act:
    quote.votes === null
      ? actText(ACTS[noun], sumByAsset(quote.from))
      : askText(quote.votes.count),
  votes: quote.votes,
  from: quote.from,
  to: quote.to,
  warnings: quote.warnings,
  networkFees: quote.from.map(({ networkFeePaidBy }) => networkFeePaidBy),
  expiresAt: quote.expiresAt,
  receipt: (to) => <Receipt quote={quote} to={to} />,
  stored: { quote, noun },
  movedTo: (error) => {
    const moved = movedQuoteOf(error);
    return moved === null ? null : subjectOfQuote(moved, noun);
  },
});

const storedQuote = z.object({ quote: quoteRecord, noun: z.enum(["swap", "retry"]) });

/**
 * The subject that was stored before a reload; null when its sources are not among `wallets`,
 * because it then belongs to another person.
 */
export const reviveQuote = (
  stored: unknown,
  wallets: readonly { readonly address: string }[],
): MoveSubject | null => {
  const { data } = storedQuote.safeParse(stored);
  const isOwn =
    data?.quote.from.every(({ address }) =>
      wallets.some((wallet) => wallet.address === address),
    ) === true;
  return data !== undefined && isOwn ? subjectOfQuote(data.quote, data.noun) : null;
};

interface ReceiptProps {
  readonly quote: Quote;
  /**
   * The amounts that the person approves or, after the preparation, the amounts that are executed.
   */
  readonly to: MovePromise["to"];
}

/** The full review of the execution, without shortened addresses. */
const Receipt = ({ quote, to }: ReceiptProps): ReactNode => (
  <>
    <QuotePicture quote={{ ...quote, to: { ...quote.to, ...to } }} />
    <Facts>
      <Fact label="From">
        <ul className="flex flex-col gap-2">
          {quote.from.map((source, index) => (
            <li key={index} className="flex flex-col items-end">
              {quote.from.length === 1 ? null : (
                <Amount
                  value={source.amount}
                  unit={source.token.symbol}
                  exact
                  className="font-medium"
                />
              )}
              <ReceiptParty address={source.address} chainId={source.chainId} />
            </li>
          ))}
        </ul>
      </Fact>
      <Fact label="To">
        <ReceiptRecipient address={to.address} chainId={to.chainId} />
      </Fact>
      <Fact label="You send">
        <span className="flex flex-wrap justify-end gap-x-3">
          {sumByAsset(quote.from).map((sum) => (
            <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} exact />
          ))}
        </span>
      </Fact>
      <Fact label="Minimum received" strong>
        <Amount value={to.minAmount} unit={to.token.symbol} exact />
      </Fact>
      <Fact label="Expected">
        <Amount value={to.amount} unit={to.token.symbol} exact />
        {compareAmounts(to.amount, quote.to.amount) === 0 ? null : (
          <span className="block text-sm text-fg-3">
            quoted: <Amount value={quote.to.amount} unit={to.token.symbol} exact plain />
          </span>
        )}
      </Fact>
      <Fact label="Fees">
        <FeeLines fees={quote.fees} />
      </Fact>
      <Fact label="Rate">
        <RateText quote={quote} />
      </Fact>
      <Fact label="Route">
        <RouteSteps quote={quote} />
      </Fact>
    </Facts>
  </>
);

const STEP_WORDS = { swap: "swap", bridge: "bridge", transfer: "transfer" } as const;

const RouteSteps = ({ quote }: { readonly quote: Quote }): ReactNode => (
  <ol className="mt-1 flex flex-col gap-1 text-sm text-fg-2">
    {quote.from.map((source, index) => (
      <li key={index} className="flex flex-wrap gap-x-1.5">
        <span>
          <ChainName chainId={source.chainId} />:
        </span>
        {quote.steps
          .filter((step) => step.sourceIndex === index)
          .map((step, position) => (
            <span key={position}>
              {position === 0 ? step.from.symbol : ""} → {step.to.symbol}{" "}
              <span className="text-fg-3">
                ({STEP_WORDS[step.kind]}, {step.venue})
              </span>
            </span>
          ))}
      </li>
    ))}
  </ol>
);
