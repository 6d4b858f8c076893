/**
 * Estimates the network fees of payouts to wallets, and reads the prices of the coins that pay
 * them.
 */
import type { ChainRegistry } from "@/lib/chain/registry";
import type { Token } from "@/lib/core/token";
import type { SmartAccountsService } from "@/lib/chain/smart-accounts/service";
import type { GasCost, SponsorshipService } from "@/lib/books/sponsorship/service";
import type { UserOperationGas } from "@/lib/chain/ports/bundler";
import { PRICE_TIMEOUT_MS, type Prices } from "../worth";
import { batchName } from "./batches/payout-batch";

export interface FeeDeps {
  readonly registry: Pick<ChainRegistry, "find" | "native">;
  readonly smartAccounts: Pick<SmartAccountsService, "maxFeePerGas" | "parentGas">;
  readonly sponsorship: Pick<SponsorshipService, "costsOf" | "pays">;
  readonly prices: Prices;
}

export interface PayoutFee {
  /** The expected fee, in wei. */
  readonly wei: bigint;
  readonly paidBy: "sponsor" | "wallet";
  /**
   * The maximum that the sponsor pays for each batch; empty when the wallet pays the network fees.
   */
  readonly costs: readonly GasCost[];
}

/** Gas of a batch without its rows, including the account's deployment. */
const BATCH_GAS = 250_000n;
/** Gas of a row whose recipient never held the token, including its share of the call data. */
const ROW_GAS = 32_000n;
const VERIFICATION_GAS = 600_000n;
const PRE_VERIFICATION_GAS = 80_000n;
/** Gas of a row's call data: 32 bytes, most of them not zero. */
const ROW_DATA_GAS = 1_300n;
const PAYMASTER_GAS = 80_000n;

/** Bytes of a batch's transaction without its rows. */
const BATCH_BYTES = 1_600;
/** Bytes that each row adds to the transaction of its batch. */
const ROW_BYTES = 32;

const batchBytesOf = (rows: number): number => BATCH_BYTES + ROW_BYTES * rows;

/**
 * Returns upper limits of a batch's gas, to reserve budget before the batch is simulated. The
 * signed operation has measured limits.
 * @param parentGas the gas that corresponds to the fee of the batch's bytes on the parent chain of
 * a rollup; 0 on any other chain
 */
const batchGasOf = (rows: number, parentGas: bigint): UserOperationGas => ({
  callGasLimit: BATCH_GAS + ROW_GAS * BigInt(rows),
  verificationGasLimit: VERIFICATION_GAS,
  preVerificationGas: PRE_VERIFICATION_GAS + ROW_DATA_GAS * BigInt(rows) + parentGas,
  paymasterVerificationGasLimit: PAYMASTER_GAS,
  paymasterPostOpGasLimit: 0n,
});

/** The gas that a batch is expected to use without its rows. */
const EXPECTED_BATCH_GAS = 180_000n;
/**
 * The gas that each row is expected to add to its batch. A row whose recipient already holds the
 * token uses only a third of the gas of a row whose recipient is new.
 */
const EXPECTED_ROW_GAS = 27_000n;

const expectedGasOf = (rows: number): bigint =>
  EXPECTED_BATCH_GAS + EXPECTED_ROW_GAS * BigInt(rows);

interface SizedBatch {
  readonly number: number;
  readonly rows: number;
}

/**
 * Estimates the network fee of a payout with these batches.
 * @throws DomainError `chain_unavailable`
 */
export const feeOf = async (
  deps: FeeDeps,
  {
    payoutId,
    chainId,
    batches,
  }: { payoutId: string; chainId: number; batches: readonly SizedBatch[] },
): Promise<PayoutFee> => {
  // Batches have few different sizes, because only the last batch of each token is not full. So the
  // parent chain's fee is read once for each size.
  const sizes = [...new Set(batches.map(({ rows }) => rows))];
  const parentGas = new Map(
    await Promise.all(
      sizes.map(
        async (rows) =>
          [rows, await deps.smartAccounts.parentGas(chainId, batchBytesOf(rows))] as const,
      ),
    ),
  );
  const legs = batches.map(({ number, rows }) => ({
    legId: batchName({ payoutId, number }),
    chainId,
    gas: batchGasOf(rows, parentGas.get(rows) ?? 0n),
  }));
  const [price, costs] = await Promise.all([
    deps.smartAccounts.maxFeePerGas(chainId),
    deps.sponsorship.costsOf(legs),
  ]);
  const gas = batches.reduce(
    (sum, { rows }) => sum + expectedGasOf(rows) + (parentGas.get(rows) ?? 0n),
    0n,
  );
  return {
    wei: gas * price,
    paidBy: deps.sponsorship.pays(chainId) ? "sponsor" : "wallet",
    costs,
  };
};

/**
 * For each chain id, reads the price of the chain's native coin in US dollars, for display.
 * Unknown prices are missing.
 */
export const coinPrices = async (
  { registry, prices }: Pick<FeeDeps, "registry" | "prices">,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const configured = [...new Set(chainIds)].filter(
    (chainId) => registry.find(chainId) !== null,
  );
  const coins: Token[] = configured.map((chainId) => registry.native(chainId));
  if (coins.length === 0) return new Map();
  const found = await prices
    .priceUsd(coins, AbortSignal.timeout(PRICE_TIMEOUT_MS))
    .catch(() => []);
  return new Map(
    coins.flatMap(({ chainId }, index) => {
      const price = found[index];
      return price === null || price === undefined ? [] : [[chainId, price] as const];
    }),
  );
};
