import { parseGwei } from "viem";
import { TRANSACTION_GAS_MAX } from "@/lib/chain/erc4337/user-operation";

// The sponsor's limits: gas ceilings by kind of operation, and default budgets.

/**
 * Maximum total gas limit of one user operation, including the account's deployment. Measured on
 * the local chains: a transfer that deploys its account needs 0.75 million, a swap 0.96 million, a
 * swap before a bridge 0.93 million. A payout batch may fill a transaction (EIP-7825).
 */
const GAS_CEILINGS = {
  transfer: 1_500_000n,
  swap: 4_000_000n,
  bridge: 5_000_000n,
  payoutBatch: TRANSACTION_GAS_MAX,
} as const;

export type SponsoredKind = keyof typeof GAS_CEILINGS;

export const KIND_NAMES: Readonly<Record<SponsoredKind, string>> = {
  transfer: "transfer",
  swap: "swap",
  bridge: "transfer between chains",
  payoutBatch: "batch of a payout",
};

/**
 * Daily gas budget. A payout of 10,000 rows uses about 280 million gas (28,000 each). While it
 * runs, up to 2.7 times as much is reserved: gas limits are a third above the expected use, and the
 * maximum price is twice the current one. The budget therefore covers ten such payouts a day one
 * after another, or nearly four at the same time.
 */
const DAILY_GAS = 3_000_000_000n;
/**
 * Gas budget of one operation. It covers ten sources, each with a swap of two million gas at five
 * times the reference price.
 */
const OPERATION_GAS = 100_000_000n;
const GAS_PRICE_GWEI = "1";

export interface SponsoredChain {
  readonly id: number;
  readonly name: string;
  readonly nativeCurrency: { readonly symbol: string };
  readonly contracts: { readonly paymaster?: string | undefined };
  readonly sponsor?:
    | {
        readonly gasPriceGwei?: string | undefined;
        readonly dailyGas?: number | undefined;
        readonly operationGas?: number | undefined;
        readonly gasCeilings?:
          | { readonly [K in SponsoredKind]?: number | undefined }
          | undefined;
      }
    | undefined;
}

/** Limits of a sponsor's spending, in wei. */
export interface Budget {
  /** Limit for all operations of a project that are accepted on one UTC day. */
  readonly dailyWei: bigint;
  /** Limit for one operation. Each batch of a payout counts as a separate operation. */
  readonly operationWei: bigint;
}

export const isSponsored = (chain: SponsoredChain): boolean =>
  chain.contracts.paymaster !== undefined;

export const ceilingOf = (chain: SponsoredChain, kind: SponsoredKind): bigint => {
  const own = chain.sponsor?.gasCeilings?.[kind];
  const ceiling = own === undefined ? GAS_CEILINGS[kind] : BigInt(own);
  return ceiling < TRANSACTION_GAS_MAX ? ceiling : TRANSACTION_GAS_MAX;
};

const gasOf = (own: number | undefined, otherwise: bigint): bigint =>
  own === undefined ? otherwise : BigInt(own);

export const defaultBudgetOf = ({ sponsor }: SponsoredChain): Budget => {
  const price = parseGwei(sponsor?.gasPriceGwei ?? GAS_PRICE_GWEI);
  return {
    dailyWei: gasOf(sponsor?.dailyGas, DAILY_GAS) * price,
    operationWei: gasOf(sponsor?.operationGas, OPERATION_GAS) * price,
  };
};

export interface Reservation {
  readonly projectId: string;
  readonly chainId: number;
  /** The UTC day whose budget contains the reservation. */
  readonly day: Date;
  readonly reservedWei: bigint;
}

/** Ends a leg's reservation, or changes its amount. */
export type ReservationChange =
  | { readonly reservation: Reservation; readonly spentWei: bigint }
  | {
      readonly reservation: Reservation;
      readonly toWei: bigint;
      /** The operation's kind, and the wei that its other legs have reserved on the chain. */
      readonly operation: { readonly kind: string; readonly othersWei: bigint };
    };
