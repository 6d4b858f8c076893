import type { FlowWords } from "./operation-flow";
import type { FlowHop, FlowModel } from "./types";

interface QuotedSource {
  readonly address: string;
  readonly chainId: number;
  readonly amount: string;
  readonly token: { readonly symbol: string };
  /** The amount that the source is expected to bring, in units of the received token. */
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
  readonly steps: readonly { readonly sourceIndex: number; readonly kind: string; readonly venue: string }[];
}

/** A quote as a picture of the money that it would move; nothing has moved yet. */
export const quoteFlow = (quote: QuotedFlow, { chainName, addressName }: FlowWords): FlowModel => ({
  legs: quote.from.map((source, index) => ({
    id: String(index),
    from: { name: addressName(source.address), address: source.address, chainName: chainName(source.chainId) },
    amount: source.amount,
    symbol: source.token.symbol,
    worth: Number(source.expectedOut),
    hops: quote.steps.flatMap(({ sourceIndex, kind, venue }): FlowHop[] =>
      sourceIndex === index && (kind === "swap" || kind === "bridge") ? [{ kind, venue }] : [],
    ),
    look: "planned",
    fill: 0,
    back: 0,
    coin: null,
    sentence: `Takes about ${String(source.estimatedSeconds)} s`,
    transactions: [],
    at: null,
  })),
  to: {
    name: addressName(quote.to.address),
    address: quote.to.address,
    chainName: chainName(quote.to.chainId),
    symbol: quote.to.token.symbol,
    amount: quote.to.amount,
    suffix: "expected",
    minimum: quote.to.minAmount,
  },
  fee: null,
});
