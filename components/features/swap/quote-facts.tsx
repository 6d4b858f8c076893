"use client";

import { ArrowLeftRight } from "lucide-react";
import { useState, type ReactNode } from "react";
import { NetworkFee } from "@/components/features/money-flow/network-fee";
import { Amount, Usd } from "@/components/ui/amount";
import { ChainName } from "@/components/ui/chain-name";
import { Fact, Facts } from "@/components/ui/card";
import { IconButton } from "@/components/ui/button";
import { inverseOf, percentText, usdValue } from "./decimal";
import { FeeLines } from "./fee-lines";
import { impactGate, impactOf } from "./quote-change";
import { secondsText } from "./seconds-text";
import type { Quote } from "./types";
import type { SwapSetup } from "./use-swap-setup";

interface QuoteFactsProps {
  readonly quote: Quote;
  readonly setup: SwapSetup;
}

const IMPACT_LOOKS = { none: "num", confirm: "num font-medium text-warning", type: "num font-medium text-danger" };

/** The price of one unit of one token in the other; a click inverts it. */
export const RateText = ({ quote }: { readonly quote: Quote }): ReactNode => {
  const [inverted, setInverted] = useState(false);
  const { rate } = quote;
  const turned = rate === null ? null : inverseOf(rate);
  if (rate === null) return <span className="text-fg-3">several assets are sent</span>;
  const [sent, received] = [quote.from[0]?.token.symbol ?? "", quote.to.token.symbol];
  const [one, other, value] = inverted && turned !== null ? [received, sent, turned] : [sent, received, rate];
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
    setup.tokens.find((token) => token.chainId === to.chainId && token.address === to.token.address)?.priceUsd ?? null;
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
        <span className={IMPACT_LOOKS[impactGate(impactOf(quote))]}>{percentText(Math.max(0, impactOf(quote)))}</span>
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
