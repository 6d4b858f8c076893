import { worthOf as exactWorth } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { type AssetBacking, availableOf } from "@/lib/books/reserves/service";

/** The parts of a balance, in base units. */
export interface Parts {
  /** The balance on chain. */
  readonly amountBase: bigint;
  /**
   * The amount that may be moved now: the balance minus the parts that are reserved, in quarantine,
   * being sent, and backing accounts.
   */
  readonly availableBase: bigint;
  /** Stays in the treasury, because it backs accounts. Part of the balance. */
  readonly backingBase: bigint;
  /** Held for accepted operations that were not sent yet. Part of the balance. */
  readonly reservedBase: bigint;
  /** Sent, but not mined yet. Part of the balance. */
  readonly pendingOutBase: bigint;
  /** Held for deposits that wait for a person. Part of the balance. */
  readonly quarantinedBase: bigint;
  /** The minimum that is arriving in the wallet. Not part of the balance. */
  readonly pendingInBase: bigint;
}

const MOVING_PARTS = [
  "amountBase",
  "reservedBase",
  "pendingOutBase",
  "quarantinedBase",
  "pendingInBase",
] as const;

type Moving = Pick<
  Parts,
  "reservedBase" | "pendingOutBase" | "quarantinedBase" | "pendingInBase"
>;

/** The parts of a balance before the free amount is divided. */
type Held = Omit<Parts, "availableBase" | "backingBase"> & {
  /** Neither reserved, being sent nor in quarantine; 0 when more is held than the balance. */
  readonly freeBase: bigint;
};

/** The parts of a balance, given its moving amounts. */
export const heldOf = (amountBase: bigint, moving: Partial<Moving> = {}): Held => {
  const {
    reservedBase = 0n,
    pendingOutBase = 0n,
    quarantinedBase = 0n,
    pendingInBase = 0n,
  } = moving;
  const free = amountBase - reservedBase - pendingOutBase - quarantinedBase;
  return {
    amountBase,
    freeBase: free > 0n ? free : 0n,
    reservedBase,
    pendingOutBase,
    quarantinedBase,
    pendingInBase,
  };
};

interface Place {
  readonly walletId: string;
  readonly address: string;
  readonly token: Token;
}

/** One wallet's balance of one token, before the free amount is divided. */
export interface HeldPosition extends Place, Held {}

/** One wallet's balance of one token. */
export interface Position extends Place, Parts {}

/** Parts in units with `decimals` decimals. */
export interface Sum extends Parts {
  readonly decimals: number;
  readonly positions: readonly Position[];
}

export interface AssetTotal extends Sum {
  readonly assetId: string;
  readonly symbol: string;
  readonly chains: readonly (Sum & { readonly chainId: number })[];
}

const USD_DECIMALS = 6;

const grouped = <Key>(
  positions: readonly HeldPosition[],
  keyOf: (position: HeldPosition) => Key,
): Map<Key, HeldPosition[]> => {
  const groups = new Map<Key, HeldPosition[]>();
  for (const position of positions) {
    const key = keyOf(position);
    const group = groups.get(key);
    if (group) group.push(position);
    else groups.set(key, [position]);
  }
  return groups;
};

const covers = (backing: AssetBacking | null, { address, token }: HeldPosition): boolean =>
  backing?.covers({ address, chainId: token.chainId, token: token.address }) === true;

/** The amount that may leave the treasury, rounded down to units of `decimals`. */
const limitIn = (backing: AssetBacking | null, decimals: number): bigint | null =>
  backing === null ? null : backing.availableBase / 10n ** BigInt(LEDGER_DECIMALS - decimals);

/** `decimals` must be no fewer than those of any position's token, so that the sum is exact. */
const partsOf = (
  positions: readonly HeldPosition[],
  decimals: number,
  backing: AssetBacking | null,
): Parts => {
  const sums = {
    amountBase: 0n,
    reservedBase: 0n,
    pendingOutBase: 0n,
    quarantinedBase: 0n,
    pendingInBase: 0n,
  };
  const free = { coveringBase: 0n, otherBase: 0n };
  for (const position of positions) {
    const scale = 10n ** BigInt(decimals - position.token.decimals);
    for (const part of MOVING_PARTS) sums[part] += position[part] * scale;
    free[covers(backing, position) ? "coveringBase" : "otherBase"] += position.freeBase * scale;
  }
  return { ...sums, ...availableOf(free, limitIn(backing, decimals)) };
};

const positionOf = (held: HeldPosition, backing: AssetBacking | null): Position => ({
  walletId: held.walletId,
  address: held.address,
  token: held.token,
  ...partsOf([held], held.token.decimals, backing),
});

const sumOf = (
  held: readonly HeldPosition[],
  decimals: number,
  backing: AssetBacking | null,
): Sum => ({
  ...partsOf(held, decimals, backing),
  decimals,
  positions: held.map((position) => positionOf(position, backing)),
});

/**
 * Sums balances by asset, exactly. When decimals differ between chains, the largest number is used.
 * Omits positions that hold nothing and to which nothing is on its way.
 * @param backings backing of the assets that are owed to accounts
 */
export const totalByAsset = (
  positions: readonly HeldPosition[],
  backings: readonly AssetBacking[] = [],
): AssetTotal[] => {
  const shown = positions.filter(
    ({ amountBase, pendingInBase }) => amountBase > 0n || pendingInBase > 0n,
  );
  return [...grouped(shown, ({ token }) => token.assetId)].map(([assetId, group]) => {
    const decimals = group.reduce((most, { token }) => Math.max(most, token.decimals), 0);
    const backing = backings.find((one) => one.assetId === assetId) ?? null;
    const chains = [...grouped(group, ({ token }) => token.chainId)];
    return {
      ...sumOf(group, decimals, backing),
      assetId,
      symbol: group[0]?.token.symbol ?? assetId,
      chains: chains.map(([chainId, here]) => ({ ...sumOf(here, decimals, backing), chainId })),
    };
  });
};

/**
 * Worth in millionths of a dollar, rounded down; null when the price is not known. `priceUsd` is a
 * decimal string.
 */
export const worthMicroUsd = (
  amountBase: bigint,
  decimals: number,
  priceUsd: string | null,
): bigint | null => {
  return priceUsd === null
    ? null
    : exactWorth({ amountBase, decimals, price: priceUsd }, USD_DECIMALS, "floor");
};

export const formatUsd = (microUsd: bigint | null): string | null =>
  microUsd === null ? null : formatAmount(microUsd, USD_DECIMALS);

/**
 * Worth of a position in millionths of a dollar, rounded down; null when the price is not known.
 */
export const worthOf = (
  { token, amountBase }: Position,
  priceUsd: string | null,
): bigint | null => worthMicroUsd(amountBase, token.decimals, priceUsd);

/** The sum, or null when one part is null, because a partial sum would be wrong. */
export const sumOfWorths = (worths: readonly (bigint | null)[]): bigint | null =>
  worths.reduce<bigint | null>(
    (sum, worth) => (sum === null || worth === null ? null : sum + worth),
    0n,
  );
