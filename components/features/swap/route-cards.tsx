"use client";

import type { ReactNode } from "react";
import { Amount } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ChainName } from "@/components/ui/chain-name";
import { compareAmounts, dropBps, percentText, subtractAmounts } from "./decimal";
import { secondsText } from "./seconds-text";
import type { Quote } from "./types";
import type { ChosenRoute } from "./use-chosen-route";

const CARD_LOOKS = "rounded-card border p-3";

interface RouteCardsProps {
  readonly quote: Quote | null;
  readonly chosen: ChosenRoute;
}

/** The route that will be taken, and the amounts that other routes would bring, each with a button that takes it instead. */
export const RouteCards = ({ quote, chosen }: RouteCardsProps): ReactNode => (
  <Card title="Routes" actions={quote === null ? null : <Found count={quote.alternatives.length + 1} />}>
    {quote === null ? (
      <p className="text-fg-2">The possible routes appear here with the quote.</p>
    ) : (
      <Routes quote={quote} chosen={chosen} />
    )}
    {chosen.routeId === null ? null : (
      <Button size="sm" variant="ghost" className="mt-2" onClick={() => chosen.choose(null)}>
        Take the best route again
      </Button>
    )}
  </Card>
);

const Found = ({ count }: { readonly count: number }): ReactNode => (
  <span className="num text-sm text-fg-3">{count} found</span>
);

const Routes = ({ quote, chosen }: { readonly quote: Quote; readonly chosen: ChosenRoute }): ReactNode => {
  // The quote before the choice stays on the screen until the next one is there.
  const isOfChoice = chosen.routeId !== null && quote.routeId === chosen.routeId;
  return (
    <ul className="flex flex-col gap-2">
      <li className={`${CARD_LOOKS} border-accent`}>
        <CardHead
          title={<Badge tone="info">{isOfChoice ? "Your choice, will be taken" : "Best, will be taken"}</Badge>}
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
            <Difference taken={quote.to} amount={other.amount} />, minimum{" "}
            <Amount value={other.minAmount} unit={quote.to.token.symbol} plain />, about{" "}
            {secondsText(other.estimatedSeconds)}
          </p>
          <TakeRoute label={other.label} routeId={other.routeId} onTake={chosen.choose} />
        </li>
      ))}
    </ul>
  );
};

interface TakeRouteProps {
  readonly label: string;
  readonly routeId: string | null;
  readonly onTake: (routeId: string) => void;
}

const TakeRoute = ({ label, routeId, onTake }: TakeRouteProps): ReactNode =>
  routeId === null ? null : (
    <Button size="sm" className="mt-2" aria-label={`Take this route: ${label}`} onClick={() => onTake(routeId)}>
      Take this route
    </Button>
  );

interface DifferenceProps {
  readonly taken: Quote["to"];
  readonly amount: string;
}

/** How much less or more another route is expected to bring than the one that is taken. */
const Difference = ({ taken, amount }: DifferenceProps): ReactNode => {
  const order = compareAmounts(taken.amount, amount);
  if (order === 0) return "Expected to bring as much";
  const [high, low] = order > 0 ? [taken.amount, amount] : [amount, taken.amount];
  return (
    <>
      <Amount value={subtractAmounts(high, low)} unit={taken.token.symbol} plain /> {order > 0 ? "less" : "more"} (
      {percentText(dropBps(high, low))})
    </>
  );
};

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
