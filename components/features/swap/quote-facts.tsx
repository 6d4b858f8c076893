"use client";

import { ArrowLeftRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { NetworkFee } from "@/components/features/money-flow/quote-shell";
import { sumByAsset } from "@/components/features/operations/operation-sums";
import { Amount } from "@/components/ui/amount";
import { IconButton } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/card";
import { inverseOf, percentText } from "./decimal";
import { secondsText } from "./fee-lines";
import { impactGate, impactOf } from "./quote-change";
import type { Quote } from "./tokens";

const IMPACT_LOOKS = {
  none: "num",
  confirm: "num font-medium text-warning",
  type: "num font-medium text-danger",
};

/** The facts of a quote beside the form. The review shows them again, with all addresses. */
export const QuoteFacts = ({ quote }: { readonly quote: Quote }): ReactNode => {
  const { to } = quote;
  return (
    <Facts>
      <Fact label="You send">
        <Sums amounts={quote.from} />
      </Fact>
      <Fact label="Minimum received">
        <Amount value={to.minAmount} unit={to.token.symbol} className="font-semibold" />
      </Fact>
      <Fact label="Expected">
        <Amount value={to.amount} unit={to.token.symbol} />
      </Fact>
      <FeeFact label="Bridge fee" quote={quote} kind="bridge" />
      <FeeFact label="Pool fees" quote={quote} kind="swap" />
      <Fact label="Network fee">
        <span className="flex flex-wrap justify-end gap-x-3">
          <Sums amounts={quote.fees.filter(({ kind }) => kind === "gas")} />
          <NetworkFee paidBy={quote.from.map((source) => source.networkFeePaidBy)} />
        </span>
      </Fact>
      <Fact label="Price impact">
        <span className={IMPACT_LOOKS[impactGate(impactOf(quote))]}>
          {percentText(Math.max(0, impactOf(quote)))}
        </span>
      </Fact>
      <Fact label="Takes about">
        <span className="num">{secondsText(quote.estimatedSeconds)}</span>
      </Fact>
    </Facts>
  );
};

interface SumsProps {
  readonly amounts: Parameters<typeof sumByAsset>[0];
}

const Sums = ({ amounts }: SumsProps): ReactNode => (
  <span className="inline-flex flex-wrap justify-end gap-x-3 empty:hidden">
    {sumByAsset(amounts).map((sum) => (
      <Amount key={sum.assetId} value={sum.amount} unit={sum.symbol} />
    ))}
  </span>
);

interface FeeFactProps {
  readonly label: string;
  readonly quote: Quote;
  readonly kind: Quote["fees"][number]["kind"];
}

/**
 * The bridge or pool fees of a quote; the rate already includes them. Renders nothing when there
 * are none.
 */
const FeeFact = ({ label, quote, kind }: FeeFactProps): ReactNode => {
  const fees = quote.fees.filter((fee) => fee.kind === kind);
  return fees.length === 0 ? null : (
    <Fact label={label}>
      <Sums amounts={fees} />
    </Fact>
  );
};

/** The rate between the two tokens; a click inverts it. */
export const RateText = ({ quote }: { readonly quote: Quote }): ReactNode => {
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
        <IconButton
          label="Invert the rate"
          className="-my-1 -mr-1.5"
          onClick={() => setInverted(!inverted)}
        >
          <ArrowLeftRight aria-hidden />
        </IconButton>
      )}
    </span>
  );
};
