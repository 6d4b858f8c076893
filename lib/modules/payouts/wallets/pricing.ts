/** Network fees of a payout, and the worth of its payments in US dollars. */
import type { ChainRegistry } from "@/lib/chains/registry";
import { worthOf as worth } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import type { SmartAccountsService } from "@/lib/modules/smart-accounts/service";
import type { GasCost, SponsorshipService } from "@/lib/modules/sponsorship/service";
import { PRICE_TIMEOUT_MS, type Prices } from "../prices";
import { batchBytesOf, batchGasOf, expectedGasOf } from "./gas";
import { holdIdOf, type TokenTotal } from "./rows";

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
  /** The most that the sponsor pays for each batch; empty when the wallet pays for itself. */
  readonly costs: readonly GasCost[];
}

interface SizedBatch {
  readonly number: number;
  readonly rows: number;
}

/** The network fee of a payout with these batches. @throws DomainError `chain_unavailable` */
export const feeOf = async (
  deps: FeeDeps,
  { payoutId, chainId, batches }: { payoutId: string; chainId: number; batches: readonly SizedBatch[] },
): Promise<PayoutFee> => {
  // Batches have few sizes: all but the last of a token are full.
  const sizes = [...new Set(batches.map(({ rows }) => rows))];
  const parentGas = new Map(
    await Promise.all(
      sizes.map(async (rows) => [rows, await deps.smartAccounts.parentGas(chainId, batchBytesOf(rows))] as const),
    ),
  );
  const legs = batches.map(({ number, rows }) => ({
    legId: holdIdOf(payoutId, number),
    chainId,
    gas: batchGasOf(rows, parentGas.get(rows) ?? 0n),
  }));
  const [price, costs] = await Promise.all([deps.smartAccounts.maxFeePerGas(chainId), deps.sponsorship.costsOf(legs)]);
  const gas = batches.reduce((sum, { rows }) => sum + expectedGasOf(rows) + (parentGas.get(rows) ?? 0n), 0n);
  return { wei: gas * price, paidBy: deps.sponsorship.pays(chainId) ? "sponsor" : "wallet", costs };
};

const USD_DECIMALS = 6;

/** Worth in millionths of a US dollar, rounded up because it is compared with a cap. */
const usdOf = (amountBase: bigint, decimals: number, price: string): bigint =>
  worth({ amountBase, decimals, price }, USD_DECIMALS, "ceil");

/** Worth of all rows in US dollars, each token at its highest price on any chain; null when a token has no price. */
export const worthOf = async (
  { prices }: Pick<FeeDeps, "prices">,
  totals: readonly TokenTotal[],
): Promise<string | null> => {
  const tokens = totals.map(({ token }) => token);
  const found = await prices
    .highestPriceUsd(tokens, AbortSignal.timeout(PRICE_TIMEOUT_MS))
    .catch(() => tokens.map(() => null));
  let sum = 0n;
  for (const [index, { token, amountBase }] of totals.entries()) {
    const price = found[index];
    if (price === null || price === undefined) return null;
    sum += usdOf(amountBase, token.decimals, price);
  }
  return formatAmount(sum, USD_DECIMALS);
};

/** Prices of the chains' coins in US dollars, by chain; unknown prices are missing. For display only. */
export const coinPrices = async (
  { registry, prices }: Pick<FeeDeps, "registry" | "prices">,
  chainIds: readonly number[],
): Promise<ReadonlyMap<number, string>> => {
  const configured = [...new Set(chainIds)].filter((chainId) => registry.find(chainId) !== null);
  const coins: Token[] = configured.map((chainId) => registry.native(chainId));
  if (coins.length === 0) return new Map();
  const found = await prices.priceUsd(coins, AbortSignal.timeout(PRICE_TIMEOUT_MS)).catch(() => []);
  return new Map(
    coins.flatMap(({ chainId }, index) => {
      const price = found[index];
      return price === null || price === undefined ? [] : [[chainId, price] as const];
    }),
  );
};

/** A fee in US dollars for display; null when the price is not known. */
export const feeUsd = (wei: bigint, coin: Pick<Token, "decimals">, price: string | undefined): string | null =>
  price === undefined ? null : formatAmount(usdOf(wei, coin.decimals, price), USD_DECIMALS);
