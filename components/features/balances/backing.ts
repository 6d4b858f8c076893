import { smallerAmount, subtractAmounts, sumAmounts } from "@/components/features/swap/decimal";
import type { Reserves } from "@/components/features/money-flow/spendable";
import type { Balances, TokenTotal } from "@/components/features/overview/use-balances";
import { isZero } from "@/components/features/overview/sums";

/** The amounts that must stay in the treasury because they back global accounts, by asset; assets that back nothing are left out. */
export type Backing = ReadonlyMap<string, string>;

const placeOf = (chainId: number, address: string): string => `${String(chainId)} ${address.toLowerCase()}`;

/** Over all chains, because accounts are backed by the sum; see `spendableOf` for one place. */
const backingOfAsset = ({ assetId, breakdown }: TokenTotal, reserves: Reserves): string => {
  const reserve = reserves.find((one) => one.assetId === assetId);
  if (reserve === undefined || isZero(reserve.liabilities)) return "0";
  const backing = new Set(
    reserve.chains.filter(({ backs }) => backs).map(({ chainId, wallet }) => placeOf(chainId, wallet)),
  );
  const held = sumAmounts(
    breakdown
      .filter(({ chainId, address }) => backing.has(placeOf(chainId, address)))
      .map(({ available }) => available),
  );
  return subtractAmounts(held, smallerAmount(held, reserve.available));
};

export const backingOf = ({ totals }: Pick<Balances, "totals">, reserves: Reserves): Backing =>
  new Map(
    totals.flatMap((total): [string, string][] => {
      const amount = backingOfAsset(total, reserves);
      return isZero(amount) ? [] : [[total.assetId, amount]];
    }),
  );

export type BackingTotal = TokenTotal & { readonly backing?: string };

/** Takes the amount that backs accounts out of `available`, and writes it as `backing`. */
export const withoutBacking = (total: TokenTotal, backing: Backing): BackingTotal => {
  const amount = backing.get(total.assetId);
  return amount === undefined
    ? total
    : { ...total, available: subtractAmounts(total.available, amount), backing: amount };
};
