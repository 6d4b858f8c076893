import type { Token } from "@/lib/core/token";

export type EvmAddress = `0x${string}`;

/** One call of a smart account or wallet. `value` in wei. */
export interface Call {
  readonly to: EvmAddress;
  readonly data: `0x${string}`;
  readonly value: bigint;
}

/** What one wallet puts in, on one chain. */
export interface RouteSource {
  readonly owner: EvmAddress;
  readonly token: Token;
  readonly amountBase: bigint;
}

export interface RouteRequest {
  readonly sources: readonly RouteSource[];
  readonly destination: { readonly token: Token; readonly recipient: EvmAddress };
  /** 0–1000. The minimum of every leg is enforced on chain. */
  readonly slippageBps: number;
}

export interface RouteFee {
  readonly kind: "bridge" | "swap";
  readonly token: Token;
  readonly amountBase: bigint;
}

/** A step as a person reads it: "Swap USDT to USDC on Local 1", and the venue that does it. */
export interface RouteStep {
  readonly kind: "swap" | "bridge" | "transfer";
  readonly venue: string;
  readonly from: Token;
  readonly to: Token;
  readonly amountInBase: bigint;
  readonly amountOutBase: bigint;
}

export type LegKind = "transfer" | "swap" | "bridge";

/** How one source reaches the destination. `kind` "bridge" crosses chains (with swaps on either side where needed). */
export interface RouteLeg {
  /** Id of the routing provider that offered the leg, and that builds, reads and follows it. */
  readonly provider: string;
  readonly sourceIndex: number;
  readonly kind: LegKind;
  readonly expectedOutBase: bigint;
  /** Enforced on chain: the leg delivers at least this to the recipient or delivers nothing. */
  readonly minOutBase: bigint;
  readonly steps: readonly RouteStep[];
  readonly fees: readonly RouteFee[];
  readonly estimatedSeconds: number;
  /** Loss against the price of a very small trade, in basis points. */
  readonly priceImpactBps: number;
  /** The provider's own plan, opaque to callers, JSON-safe so that it can be stored with the quote. */
  readonly plan: unknown;
}

export interface Route {
  /** One for each source, in the order of the sources. */
  readonly legs: readonly RouteLeg[];
}

/** What a leg comes to on its source chain. */
export interface LegTransactions {
  readonly calls: readonly Call[];
  /** Whether the calls use up the source's whole amount: nothing of it is left with whoever made them. */
  readonly spendsAll: boolean;
  /** Unix seconds by the source chain's clock after which the calls can move no money; null: they always could. */
  readonly validUntil: number | null;
  /** Unix seconds after which an unfilled bridge leg is refunded; null for legs that stay on one chain. */
  readonly fillDeadline: number | null;
}

/** A log as `eth_getTransactionReceipt` gives it, of the one user operation or transaction of the leg. */
export interface ReceiptLog {
  readonly address: EvmAddress;
  readonly topics: readonly `0x${string}`[];
  readonly data: `0x${string}`;
  readonly logIndex: number;
}

export interface SourceReceipt {
  readonly chainId: number;
  readonly txHash: `0x${string}`;
  readonly blockNumber: bigint;
  /** Only the logs that this leg caused. */
  readonly logs: readonly ReceiptLog[];
}

/** What the mined source transaction did: what left the wallet and, on one chain, what arrived. */
export interface SourceOutcome {
  readonly spentBase: bigint;
  /** Same-chain legs: what the recipient got. Bridge legs: null until filled. */
  readonly receivedBase: bigint | null;
  /** Bridge legs: names the deposit for `track`. JSON-safe. */
  readonly deposit: unknown;
}

/** What the first of several transactions did when the one that carries the money on was not mined, or reverted. */
export interface StoppedOutcome {
  readonly spentBase: bigint;
  /** What the wallet holds in place of what was spent; null where nothing was bought. */
  readonly bought: { readonly token: Token; readonly amountBase: bigint } | null;
}

export interface BuildOptions {
  /**
   * Who makes the calls where that is not the source's wallet: it was given the source's whole amount just before. Refunds of
   * a bridge go to the source's wallet all the same. Only for legs that spend all.
   */
  readonly executor?: EvmAddress;
}

export type BridgeProgress =
  | { readonly state: "waiting" }
  | {
      readonly state: "filled";
      readonly chainId: number;
      readonly txHash: `0x${string}`;
      readonly blockNumber: bigint;
      readonly receivedBase: bigint;
    }
  /** The deadline passed without a fill: it can no longer be filled, and the refund is on its way. */
  | { readonly state: "expired" }
  | {
      readonly state: "refunded";
      readonly chainId: number;
      readonly txHash: `0x${string}`;
      readonly blockNumber: bigint;
      /** In base units of `token`, which is the bridged token: for a leg that swapped first not the source's token. */
      readonly refundedBase: bigint;
      readonly token: Token;
    };

/**
 * Prices a movement of tokens over one or more chains, builds its calls and follows it.
 * Amounts in base units of their token.
 */
export interface RoutingProvider {
  /** Names the provider in its legs, for good: legs are stored, and are carried on by the provider of that name. */
  readonly id: string;
  /**
   * Every source is priced by itself: a leg, and its plan, stay right under another `sourceIndex`.
   * Routes that carry every source to the destination, best (most received) first.
   * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`
   */
  quote(request: RouteRequest, signal: AbortSignal): Promise<readonly Route[]>;
  /**
   * The calls of one leg, to be made by the source's wallet in one atomic batch, or one after another: each call that gives
   * money away enforces its own minimum, and what comes before it stays in the wallet.
   */
  build(request: RouteRequest, leg: RouteLeg, signal: AbortSignal, options?: BuildOptions): Promise<LegTransactions>;
  /** What a mined source transaction did. Pure: reads only the receipt. */
  readSource(request: RouteRequest, leg: RouteLeg, receipt: SourceReceipt): SourceOutcome;
  /** What the transactions before the last one did, where the last one was not mined or reverted. Pure. */
  readStopped(request: RouteRequest, leg: RouteLeg, receipt: Pick<SourceReceipt, "logs">): StoppedOutcome;
  /** Asks the chains how a deposit stands. A reorg may take a state back. @throws DomainError `chain_unavailable` */
  track(request: RouteRequest, leg: RouteLeg, deposit: unknown, signal: AbortSignal): Promise<BridgeProgress>;
  /**
   * Worth of each token in US dollars (decimal number string, null where unknown), for display only.
   */
  priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  /** As `priceUsd`, the highest over all chains that list the asset: no thin pool makes an amount count for less against a cap. */
  highestPriceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
}

/**
 * Routes over all providers that the service is configured with. Each leg is built, read and followed by the provider that it names.
 * @throws DomainError `provider_error` for a leg whose provider is not configured any more
 * @example
 *     const [best] = await routing.quote(request, AbortSignal.timeout(8_000));
 *     for (const leg of best.legs) await routing.build(request, leg, signal);
 */
export type Routing = Omit<RoutingProvider, "id">;
