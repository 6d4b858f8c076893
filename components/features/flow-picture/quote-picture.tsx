"use client";

import type { ReactNode } from "react";
import { useNames } from "@/components/features/names/names";
import { useChainName } from "@/components/providers/public-config";
import { FlowPicture } from "./flow-picture";
import { type FlowHop, type FlowModel, type FlowWords, plannedLeg } from "./layout";

export const QuotePicture = ({ quote }: { readonly quote: QuotedFlow }): ReactNode => {
  const chainName = useChainName();
  const { addressName } = useNames();
  return <FlowPicture flow={quoteFlow(quote, { chainName, addressName })} label="Route" />;
};

interface QuotedSource {
  readonly address: string;
  readonly chainId: number;
  readonly amount: string;
  readonly token: { readonly symbol: string };
  /** The expected output of this source, in units of the received token. */
  readonly expectedOut: string;
  readonly estimatedSeconds: number;
}

export interface QuotedFlow {
  readonly from: readonly QuotedSource[];
  readonly to: {
    readonly address: string;
    readonly chainId: number;
    readonly amount: string;
    readonly minAmount: string;
    readonly token: { readonly symbol: string };
  };
  readonly steps: readonly {
    readonly sourceIndex: number;
    readonly kind: string;
    readonly venue: string;
  }[];
}

export const quoteFlow = (quote: QuotedFlow, words: FlowWords): FlowModel => ({
  legs: quote.from.map((source, index) =>
    plannedLeg(source, words, {
      id: String(index),
      worth: Number(source.expectedOut),
      hops: quote.steps.flatMap(({ sourceIndex, kind, venue }): FlowHop[] =>
        sourceIndex === index && (kind === "swap" || kind === "bridge")
          ? [{ kind, venue }]
          : [],
      ),
      sentence: `Takes about ${String(source.estimatedSeconds)} s`,
    }),
  ),
  to: {
    name: words.addressName(quote.to.address),
    address: quote.to.address,
    chainName: words.chainName(quote.to.chainId),
    symbol: quote.to.token.symbol,
    amount: quote.to.amount,
    suffix: "expected",
    minimum: quote.to.minAmount,
  },
  fee: null,
});
