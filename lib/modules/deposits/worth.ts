/** The worth of deposits in US dollars. */
import { worthOf } from "@/lib/core/decimal";
import type { Token } from "@/lib/core/token";
import type { TokenOf } from "./apply";
import type { Deposit } from "./deposit";

export interface WorthDeps {
  readonly prices: { priceUsd(tokens: readonly Token[], signal: AbortSignal): Promise<readonly (string | null)[]> };
  readonly tokenOf: TokenOf;
}

const PRICES_TIMEOUT_MS = 2000;
const USD_DECIMALS = 6;

/** The worth of deposits now, in millionths of a dollar; null where no price is known. */
export const worthsOf = async (
  { prices, tokenOf }: WorthDeps,
  deposits: readonly Pick<Deposit, "chainId" | "token" | "amountBase">[],
): Promise<readonly (bigint | null)[]> => {
  const tokens = [...new Map(deposits.map((deposit) => [deposit.token, tokenOf(deposit)])).values()];
  if (tokens.length === 0) return [];
  const found = await prices.priceUsd(tokens, AbortSignal.timeout(PRICES_TIMEOUT_MS)).catch(() => []);
  const priceOf = new Map(tokens.map((token, index) => [token.address.toLowerCase(), found[index] ?? null]));
  return deposits.map((deposit) => {
    const price = priceOf.get(deposit.token) ?? null;
    if (price === null) return null;
    return worthOf(
      { amountBase: deposit.amountBase, decimals: tokenOf(deposit).decimals, price },
      USD_DECIMALS,
      "floor",
    );
  });
};

/** Sets the worth of those that a person has to look at, by which they are ordered. */
export const withWorths = async <
  F extends { readonly deposit: Pick<Deposit, "chainId" | "token" | "amountBase" | "state"> },
>(
  deps: WorthDeps,
  found: readonly F[],
): Promise<(F & { readonly deposit: { readonly usdMicro: bigint | null } })[]> => {
  const stopped = found.filter(({ deposit }) => deposit.state === "quarantined");
  const worths = await worthsOf(
    deps,
    stopped.map(({ deposit }) => deposit),
  );
  const worthByRow = new Map(stopped.map((each, index) => [each, worths[index] ?? null]));
  return found.map((each) => ({ ...each, deposit: { ...each.deposit, usdMicro: worthByRow.get(each) ?? null } }));
};
