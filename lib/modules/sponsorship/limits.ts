/** What the sponsor pays for at most: the one table of gas ceilings, and the default budgets. */
import { parseGwei } from "viem";
import { TRANSACTION_GAS_MAX } from "@/lib/chains/erc4337/gas-limits";

/**
 * Gas limit of the transaction that carries one user operation, the account's deployment included. Measured on the local chains: a
 * transfer that deploys its account 0.75 million, a swap 0.96 million, a swap before a bridge 0.93 million.
 * A payout batch may fill a transaction (EIP-7825).
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
 * A payout of 10,000 rows costs about 280 million gas (28,000 each). While it runs, up to 2.7 times as much is reserved: gas limits are
 * a third above what is used, and the highest price is twice the present one. So a day carries ten such payouts one after another, and
 * nearly four at once.
 */
const DAILY_GAS = 3_000_000_000n;
/** Ten sources, each with a swap of two million gas at five times the reference price. */
const OPERATION_GAS = 100_000_000n;
const GAS_PRICE_GWEI = "1";

/** The part of a chain's configuration that this module reads. */
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
        readonly gasCeilings?: { readonly [K in SponsoredKind]?: number | undefined } | undefined;
      }
    | undefined;
}

/** In wei. */
export interface Budget {
  /** For all operations that a project accepts on one UTC day. */
  readonly dailyWei: bigint;
  /** For one operation; each batch of a payout counts as an operation of its own. */
  readonly operationWei: bigint;
}

/** Whether the chain has a paymaster that bears the fees of smart accounts. */
export const isSponsored = (chain: SponsoredChain): boolean => chain.contracts.paymaster !== undefined;

export const ceilingOf = (chain: SponsoredChain, kind: SponsoredKind): bigint => {
  const own = chain.sponsor?.gasCeilings?.[kind];
  const ceiling = own === undefined ? GAS_CEILINGS[kind] : BigInt(own);
  return ceiling < TRANSACTION_GAS_MAX ? ceiling : TRANSACTION_GAS_MAX;
};

const gasOf = (own: number | undefined, otherwise: bigint): bigint => (own === undefined ? otherwise : BigInt(own));

/** The budget of every project for which the operator has set no other. */
export const defaultBudgetOf = ({ sponsor }: SponsoredChain): Budget => {
  const price = parseGwei(sponsor?.gasPriceGwei ?? GAS_PRICE_GWEI);
  return {
    dailyWei: gasOf(sponsor?.dailyGas, DAILY_GAS) * price,
    operationWei: gasOf(sponsor?.operationGas, OPERATION_GAS) * price,
  };
};
