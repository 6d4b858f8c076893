import { worthOf as exactWorth } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { LEDGER_DECIMALS } from "@/lib/books/ledger/service";
import { type AssetBacking, availableOf } from "@/lib/books/reserves/service";

export interface Parts {
  readonly amountBase: bigint;
  /**
   * The amount that may be moved now: the balance minus the amounts that are reserved, in
   * quarantine, being sent, or backing accounts.
   */
  readonly availableBase: bigint;
  /** The part of the balance that must stay in the treasury, because it backs accounts. */
  readonly backingBase: bigint;
  /** The part of the balance that is held for accepted operations that were not sent yet. */
  readonly reservedBase: bigint;
  /** The part of the balance that was sent, but is not mined yet. */
  readonly pendingOutBase: bigint;
  /** The part of the balance that is held for deposits awaiting a person's decision. */
  readonly quarantinedBase: bigint;
  /** The minimum that is arriving in the wallet. It is not part of the balance. */
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

/** The parts of a balance, with its free amount still undivided. */
type Held = Omit<Parts, "availableBase" | "backingBase"> & {
  /**
   * The part that is not reserved, not being sent and not in quarantine. 0 when more is held than
   * the balance.
   */
  readonly freeBase: bigint;
};

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

/** One wallet's balance of one token, with its free amount still undivided. */
export interface HeldPosition extends Place, Held {}

export interface Position extends Place, Parts {}

/** Amounts in base units with `decimals` decimals. */
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

/**
 * The amount that may leave the treasury, rounded down to units of `decimals`; null when `backing`
 * is null, which means no limit.
 */
const limitIn = (backing: AssetBacking | null, decimals: number): bigint | null =>
  backing === null ? null : backing.availableBase / 10n ** BigInt(LEDGER_DECIMALS - decimals);

/**
 * The sums of positions. `decimals` must be at least that of each position's token, so that the
 * sums are exact.
 */
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
 * Sums balances by asset, exactly. If an asset's decimals differ between chains, the largest number
 * is used. Omits positions with no balance and nothing arriving.
 * @param backings for each asset that is owed to accounts, the amount that may leave the treasury
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
 * Worth in millionths of a dollar, rounded down; null when the price is unknown. `priceUsd` is a
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

/** Worth of a position in millionths of a dollar, rounded down; null when the price is unknown. */
export const worthOf = (
  { token, amountBase }: Position,
  priceUsd: string | null,
): bigint | null => worthMicroUsd(amountBase, token.decimals, priceUsd);

/** The sum, or null when one worth is null, because a partial sum would be wrong. */
export const sumOfWorths = (worths: readonly (bigint | null)[]): bigint | null =>
  worths.reduce<bigint | null>(
    (sum, worth) => (sum === null || worth === null ? null : sum + worth),
    0n,
  );
