import type { Call, EvmAddress, ReceiptLog } from "@/lib/core/evm";
import type { RouteRequest } from "@/lib/core/route-request";
import type { Token } from "@/lib/core/token";

export interface RouteFee {
  readonly kind: "bridge" | "swap";
  readonly token: Token;
  readonly amountBase: bigint;
}

/**
 * A step of a leg as people see it, for example "Swap USDT to USDC on Local 1", and the venue that
 * executes it.
 */
export interface RouteStep {
  readonly kind: "swap" | "bridge" | "transfer";
  readonly venue: string;
  readonly from: Token;
  readonly to: Token;
  readonly amountInBase: bigint;
  readonly amountOutBase: bigint;
}

export type LegKind = "transfer" | "swap" | "bridge";

/**
 * The path of one source to the destination. A leg of kind `bridge` crosses chains, with swaps on
 * either side if needed.
 */
export interface RouteLeg {
  /**
   * Id of the routing provider that offered the leg. The same provider builds and tracks the leg.
   */
  readonly provider: string;
  readonly sourceIndex: number;
  readonly kind: LegKind;
  readonly expectedOutBase: bigint;
  /** Enforced on chain: the recipient gets at least this amount from the leg, or nothing. */
  readonly minOutBase: bigint;
  readonly steps: readonly RouteStep[];
  /**
   * Distinguishes legs with equal steps, without amounts, for example by the pool: "USDC → WETH
   * 0.05 %". Absent when the provider never offers two such legs.
   */
  readonly way?: string | undefined;
  readonly fees: readonly RouteFee[];
  readonly estimatedSeconds: number;
  /** Loss against the price of a very small trade, in basis points. */
  readonly priceImpactBps: number;
  /** Private data of the provider. Callers store it as JSON with the quote and do not read it. */
  readonly plan: unknown;
}

export interface Route {
  /** One leg for each source, in the order of the sources. */
  readonly legs: readonly RouteLeg[];
}

export interface LegTransactions {
  readonly calls: readonly Call[];
  /**
   * Whether the calls spend the source's whole amount, so that nothing of it remains in the account
   * that makes the calls.
   */
  readonly spendsAll: boolean;
  /**
   * Unix seconds on the source chain's clock after which the calls can no longer move money; null
   * when there is no such time.
   */
  readonly validUntil: number | null;
  /**
   * Unix seconds after which an unfilled bridge leg is refunded; null for legs that stay on one
   * chain.
   */
  readonly fillDeadline: number | null;
}

export interface SourceReceipt {
  readonly chainId: number;
  readonly txHash: `0x${string}`;
  readonly blockNumber: bigint;
  /** Logs of this leg, without the logs of other legs in the receipt. */
  readonly logs: readonly ReceiptLog[];
}

/**
 * The effect of the mined source transaction: the amount that left the wallet and, for a same-chain
 * leg, the amount that arrived.
 */
export interface SourceOutcome {
  /** The source's whole amount, unless the token's contract moved less. */
  readonly spentBase: bigint;
  /** Same-chain legs: the amount that the recipient got, in base units. Bridge legs: null. */
  readonly receivedBase: bigint | null;
  /** Bridge legs: identifies the deposit for `track`. JSON-safe. Same-chain legs: null. */
  readonly deposit: unknown;
  /**
   * Bridge legs: the amount deposited into the bridge, in base units of the bridged token. The
   * bridge refunds it when nobody delivers. It may differ from the leg's steps, because a swap
   * before the bridge may have bought more or less. Same-chain legs: null.
   */
  readonly depositedBase: bigint | null;
}

export interface TrackOptions {
  /**
   * The state in which the deposit was seen before. A different state is returned only when the
   * chain's providers agree on it, because one lagging node does not prove a reorganisation.
   */
  readonly expects: "filled" | "refunded";
}

export interface BuildOptions {
  /**
   * The account that makes the calls when it is not the source's wallet. It has just received the
   * source's whole amount. The bridge still refunds to the source's wallet. Only allowed for legs
   * that spend the whole amount (`spendsAll`).
   */
  readonly executor?: EvmAddress;
}

/**
 * A transfer of the bridged token to a wallet that pays refunds. One transfer may pay the refunds
 * of several deposits.
 */
export interface RefundPayment {
  readonly chainId: number;
  readonly txHash: `0x${string}`;
  readonly blockNumber: bigint;
  /** Index of the transfer's log in its block. `txHash` and `logIndex` identify the payment. */
  readonly logIndex: number;
  /** The full amount of the transfer, in base units of the bridged token. */
  readonly paidBase: bigint;
}

/** A payment that may contain the refund of a deposit; the chain does not prove it. */
export interface RefundDoubt extends RefundPayment {
  /** An explanation for the person who has to decide. */
  readonly reason: string;
}

/** The refund of one deposit, and the payment that contains it. */
export interface RefundFound extends RefundPayment {
  /**
   * In base units of `token`, the bridged token. It differs from the source's token when the leg
   * swapped first.
   */
  readonly refundedBase: bigint;
  readonly token: Token;
}

/** A transaction that a person reported as the refund of a deposit. */
export interface NamedRefund {
  readonly txHash: `0x${string}`;
  /**
   * Whether an empty result is returned only when the chain's providers agree; see `TrackOptions`.
   */
  readonly agreed?: boolean;
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
  /**
   * The deadline has passed, so the deposit can no longer be filled, and no payment is certainly
   * its refund. `doubts` lists payments that may be its refund, oldest first; absent means none.
   */
  | { readonly state: "expired"; readonly doubts?: readonly RefundDoubt[] }
  | ({ readonly state: "refunded" } & RefundFound);

/**
 * Prices a movement of tokens over one or more chains, builds its calls and tracks it. Amounts in
 * base units of their token.
 * @example
 * const [best] = await provider.quote(request, signal);
 * const { calls } = await provider.build(request, best.legs[0], signal);
 * const { deposit } = provider.readSource(request, best.legs[0], receipt); // receipt of the executed calls
 * const progress = await provider.track(request, best.legs[0], deposit, signal); // bridge legs only
 */
export interface RoutingProvider {
  /**
   * The provider's id in its legs. Never change it, because the provider with this id continues
   * stored legs.
   */
  readonly id: string;
  /**
   * The provider's contracts on a chain, checksummed. Money sent directly to one of them is lost or
   * can be taken by anybody, so none may be a recipient. Each address has code on the chain. Empty
   * for a chain that the provider does not serve.
   */
  contracts(chainId: number): readonly EvmAddress[];
  /**
   * Returns up to four routes that move every source to the destination; the one with the largest
   * received amount comes first. Each source is priced separately, so a leg and its plan stay valid
   * when only its `sourceIndex` changes.
   * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`
   */
  quote(request: RouteRequest, signal: AbortSignal): Promise<readonly Route[]>;
  /**
   * Builds the calls of one leg, which spend the source's whole amount. The source's wallet makes
   * them in one atomic batch or one after another. That is safe because the last call moves the
   * money and enforces the leg's minimum, and the calls before it leave the money in the wallet.
   * @throws DomainError `no_route`, `insufficient_liquidity`, `chain_unavailable`
   */
  build(
    request: RouteRequest,
    leg: RouteLeg,
    signal: AbortSignal,
    options?: BuildOptions,
  ): Promise<LegTransactions>;
  /** Computes the effect of a mined source transaction from its receipt alone. */
  readSource(request: RouteRequest, leg: RouteLeg, receipt: SourceReceipt): SourceOutcome;
  /**
   * Reads the state of a deposit from the chains. A reorganisation may undo a state.
   * @throws DomainError `chain_unavailable`
   */
  track(
    request: RouteRequest,
    leg: RouteLeg,
    deposit: unknown,
    signal: AbortSignal,
    options?: TrackOptions,
  ): Promise<BridgeProgress>;
  /**
   * The payments in a transaction that are large enough to contain the refund of an expired
   * deposit: transfers of the bridged token to the source's wallet, after the deadline. Empty when
   * the transaction is not mined or has no such transfer.
   * @throws DomainError `chain_unavailable`
   */
  refundsIn(
    request: RouteRequest,
    leg: RouteLeg,
    deposit: unknown,
    named: NamedRefund,
    signal: AbortSignal,
  ): Promise<readonly RefundFound[]>;
  /**
   * Price of one token in US dollars for each token, as a decimal string; null when unknown. For
   * display only.
   */
  priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]>;
  /**
   * Like `priceUsd`, but the highest price of the asset on any chain. Spending caps use it, so that
   * a manipulated pool with little liquidity cannot lower the value of an amount.
   */
  highestPriceUsd(
    tokens: readonly Token[],
    signal: AbortSignal,
  ): Promise<readonly (string | null)[]>;
}

/**
 * Routing over all configured providers. Each leg is built, read and tracked by the provider that
 * the leg names.
 * @throws DomainError `provider_error` for a leg whose provider is no longer configured
 * @example
 *     const [best] = await routing.quote(request, AbortSignal.timeout(8_000));
 *     for (const leg of best.legs) await routing.build(request, leg, signal);
 */
export type Routing = Omit<RoutingProvider, "id">;
