"use client";

import { ArrowLeftRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { z } from "zod";
import { QuotePicture } from "@/components/features/flow-picture/quote-picture";
import { actText } from "@/components/features/money-flow/act-text";
import { NetworkFee } from "@/components/features/money-flow/quote-shell";
import { ReceiptParty, ReceiptRecipient } from "@/components/features/money-flow/receipt-parts";
import type { MovePromise, MoveSubject } from "@/components/features/money-flow/types";
import { sumByAsset } from "@/components/features/operations/operation-sums";
import { Amount, Usd } from "@/components/ui/amount";
import { Badge } from "@/components/ui/badge";
import { Button, IconButton } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { ChainName } from "@/components/ui/marks";
import { quoteRecord } from "@/lib/contracts/quote-records";
import {
  compareAmounts,
  dropBps,
  inverseOf,
  percentText,
  subtractAmounts,
  usdValue,
} from "./decimal";
import { impactGate, impactOf, movedQuoteOf } from "./quote-change";
import type { Quote, QuoteBody } from "./tokens";
import type { SwapSetup } from "./use-swap-setup";
import { FeeLines, secondsText } from "./fee-lines";

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
  act: actText(ACTS[noun], sumByAsset(quote.from)),
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
 * The subject that was stored before a reload; null when its sources are not among these wallets,
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
  /** The amounts that are approved or, once it is prepared, executed. */
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

interface QuoteFactsProps {
  readonly quote: Quote;
  readonly setup: SwapSetup;
}

const IMPACT_LOOKS = {
  none: "num",
  confirm: "num font-medium text-warning",
  type: "num font-medium text-danger",
};

/** The rate between the two tokens; a click inverts it. */
const RateText = ({ quote }: { readonly quote: Quote }): ReactNode => {
  const [inverted, setInverted] = useState(false);
  const { rate } = quote;
  const turned = rate === null ? null : inverseOf(rate);
  if (rate === null) return <span className="text-fg-3">several assets are sent</span>;
  const [sent, received] = [quote.from[0]?.token.symbol ?? "", quote.to.token.symbol];
  const [one, other, value] =
    inverted && turned !== null ? [received, sent, turned] : [sent, received, rate];
  return (
    <span className="inline-flex items-center gap-1">
      <Amount value="1" unit={one} plain />
      <span className="text-fg-3">=</span>
      <Amount value={value} unit={other} />
      {turned === null ? null : (
        <IconButton label="Invert the rate" onClick={() => setInverted(!inverted)}>
          <ArrowLeftRight aria-hidden />
        </IconButton>
      )}
    </span>
  );
};

export const QuoteFacts = ({ quote, setup }: QuoteFactsProps): ReactNode => {
  const { to } = quote;
  const price =
    setup.tokens.find(
      (token) => token.chainId === to.chainId && token.address === to.token.address,
    )?.priceUsd ?? null;
  return (
    <Facts>
      <Fact label="Minimum received" strong>
        <Amount value={to.minAmount} unit={to.token.symbol} />
      </Fact>
      <Fact label="Expected">
        <Amount value={to.amount} unit={to.token.symbol} />{" "}
        {price === null ? null : (
          <span className="text-fg-3">
            <Usd value={usdValue(to.amount, price)} />
          </span>
        )}
      </Fact>
      <Fact label="On">
        <ChainName chainId={to.chainId} />
      </Fact>
      <Fact label="Rate">
        <RateText quote={quote} />
      </Fact>
      <Fact label="Fees">
        <FeeLines fees={quote.fees} />
      </Fact>
      <Fact label="Network fee">
        <NetworkFee paidBy={quote.from.map((source) => source.networkFeePaidBy)} />
      </Fact>
      <Fact label="Price impact">
        <span className={IMPACT_LOOKS[impactGate(impactOf(quote))]}>
          {percentText(Math.max(0, impactOf(quote)))}
        </span>
      </Fact>
      <Fact label="Slippage, enforced on chain">
        <span className="num">{percentText(quote.slippageBps)}</span>
      </Fact>
      <Fact label="Takes about">
        <span className="num">{secondsText(quote.estimatedSeconds)}</span>
      </Fact>
    </Facts>
  );
};

const CARD_LOOKS = "rounded-card border p-3";

interface RouteCardsProps {
  readonly quote: Quote | null;
  readonly chosen: ChosenRoute;
}

/**
 * The chosen route, and the amounts that other routes would bring, each with a button that chooses
 * it.
 */
export const RouteCards = ({ quote, chosen }: RouteCardsProps): ReactNode => (
  <Card
    title="Routes"
    actions={quote === null ? null : <Found count={quote.alternatives.length + 1} />}
  >
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

const Routes = ({
  quote,
  chosen,
}: {
  readonly quote: Quote;
  readonly chosen: ChosenRoute;
}): ReactNode => {
  // After a choice, the previous quote is shown until the next one is loaded.
  const isOfChoice = chosen.routeId !== null && quote.routeId === chosen.routeId;
  return (
    <ul className="flex flex-col gap-2">
      <li className={`${CARD_LOOKS} border-accent`}>
        <CardHead
          title={
            <Badge tone="info">
              {isOfChoice ? "Your choice, will be taken" : "Best, will be taken"}
            </Badge>
          }
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
    <Button
      size="sm"
      className="mt-2"
      aria-label={`Take this route: ${label}`}
      onClick={() => onTake(routeId)}
    >
      Take this route
    </Button>
  );

interface DifferenceProps {
  readonly taken: Quote["to"];
  readonly amount: string;
}

const Difference = ({ taken, amount }: DifferenceProps): ReactNode => {
  const order = compareAmounts(taken.amount, amount);
  if (order === 0) return "Expected to bring as much";
  const [high, low] = order > 0 ? [taken.amount, amount] : [amount, taken.amount];
  return (
    <>
      <Amount value={subtractAmounts(high, low)} unit={taken.token.symbol} plain />{" "}
      {order > 0 ? "less" : "more"} ({percentText(dropBps(high, low))})
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

interface ChosenRoute {
  /** The request, with the route if the person chose one. */
  readonly body: QuoteBody | null;
  /** Null when the best route is used. */
  readonly routeId: string | null;
  /**
   * @param routeId null for the best route
   */
  readonly choose: (routeId: string | null) => void;
}

const wayOf = ({ from, toChainId, toToken }: QuoteBody): string =>
  JSON.stringify([
    from.map(({ address, chainId, token }) => [address, chainId, token]),
    toChainId,
    toToken,
  ]);

/**
 * Keeps the chosen route while only the amount changes. For other wallets, tokens or chains, the
 * best route is used.
 */
export const useChosenRoute = (body: QuoteBody | null): ChosenRoute => {
  const [chosen, setChosen] = useState<{
    readonly way: string;
    readonly routeId: string;
  } | null>(null);
  const way = body === null ? null : wayOf(body);
  const routeId = chosen !== null && chosen.way === way ? chosen.routeId : null;
  return {
    body: body === null || routeId === null ? body : { ...body, routeId },
    routeId,
    choose: (routeId) => setChosen(routeId === null || way === null ? null : { way, routeId }),
  };
};
