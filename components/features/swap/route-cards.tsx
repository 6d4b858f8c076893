"use client";

import type { ReactNode } from "react";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Card } from "@/components/ui/card";
import { ChainName } from "@/components/ui/chain-name";
import { compareAmounts, dropBps, percentText, subtractAmounts } from "./decimal";
import { secondsText } from "./seconds-text";
import type { Quote } from "./types";

const CARD_LOOKS = "rounded-card border p-3";

/** The route that will be taken, and the amounts that other routes would bring. */
export const RouteCards = ({ quote }: { readonly quote: Quote | null }): ReactNode => (
  <Card title="Routes" actions={quote === null ? null : <Found count={quote.alternatives.length + 1} />}>
    {quote === null ? (
      <p className="text-fg-2">The ways that the money can take stand here with the quote.</p>
    ) : (
      <Routes quote={quote} />
    )}
  </Card>
);

const Found = ({ count }: { readonly count: number }): ReactNode => (
  <span className="num text-sm text-fg-3">{count} found</span>
);

const Routes = ({ quote }: { readonly quote: Quote }): ReactNode => (
  <ul className="flex flex-col gap-2">
    <li className={`${CARD_LOOKS} border-accent`}>
      <CardHead
        title={<Badge tone="info">Best, will be taken</Badge>}
        amount={quote.to.amount}
        symbol={quote.to.token.symbol}
      />
      <RouteSteps quote={quote} />
    </li>
    {quote.alternatives.map((other) => (
      <li key={other.label + other.amount} className={CARD_LOOKS}>
        <CardHead
          title={<span className="truncate text-fg-2">{other.label}</span>}
          amount={other.amount}
          symbol={quote.to.token.symbol}
        />
        <p className="text-sm text-fg-3">
          <Less best={quote.to} amount={other.amount} />, minimum{" "}
          <Amount value={other.minAmount} unit={quote.to.token.symbol} plain />, about{" "}
          {secondsText(other.estimatedSeconds)}
        </p>
      </li>
    ))}
  </ul>
);

interface LessProps {
  readonly best: Quote["to"];
  readonly amount: string;
}

/** How much less another route is expected to bring. */
const Less = ({ best, amount }: LessProps): ReactNode =>
  compareAmounts(best.amount, amount) <= 0 ? (
    "Expected to bring as much"
  ) : (
    <>
      <Amount value={subtractAmounts(best.amount, amount)} unit={best.token.symbol} plain /> less (
      {percentText(dropBps(best.amount, amount))})
    </>
  );

interface CardHeadProps {
  readonly title: ReactNode;
  readonly amount: string;
  readonly symbol: string;
}

const CardHead = ({ title, amount, symbol }: CardHeadProps): ReactNode => (
  <div className="flex flex-wrap items-baseline justify-between gap-x-4">
    {title}
    <Amount value={amount} unit={symbol} />
  </div>
);

const STEP_WORDS = { swap: "swap", bridge: "bridge", transfer: "transfer" } as const;

/** Each source's way, step by step. */
export const RouteSteps = ({ quote }: { readonly quote: Quote }): ReactNode => (
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
