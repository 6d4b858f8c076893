import { worthOf as exactWorth } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";

/** The parts of a balance, in base units. */
export interface Parts {
  /** The balance on chain. */
  readonly amountBase: bigint;
  /** The amount that may be moved now: the balance without the parts that are reserved, in quarantine, and on their way out. */
  readonly availableBase: bigint;
  /** Held for operations that are accepted and not sent yet. Part of the balance. */
  readonly reservedBase: bigint;
  /** Sent, and not mined yet. Part of the balance. */
  readonly pendingOutBase: bigint;
  /** Of deposits that wait for a person. Part of the balance. */
  readonly quarantinedBase: bigint;
  /** On its way to the wallet, at least. Not part of the balance. */
  readonly pendingInBase: bigint;
}

const PARTS = [
  "amountBase",
  "availableBase",
  "reservedBase",
  "pendingOutBase",
  "quarantinedBase",
  "pendingInBase",
] as const;

type Moving = Pick<Parts, "reservedBase" | "pendingOutBase" | "quarantinedBase" | "pendingInBase">;

/** The parts of a balance of which so much moves. Nothing is available where more is held than there is. */
export const partsOf = (amountBase: bigint, moving: Partial<Moving> = {}): Parts => {
  const { reservedBase = 0n, pendingOutBase = 0n, quarantinedBase = 0n, pendingInBase = 0n } = moving;
  const free = amountBase - reservedBase - pendingOutBase - quarantinedBase;
  const availableBase = free > 0n ? free : 0n;
  return { amountBase, availableBase, reservedBase, pendingOutBase, quarantinedBase, pendingInBase };
};

/** One wallet's balance of one token. */
export interface Position extends Parts {
  readonly walletId: string;
  readonly address: string;
  readonly token: Token;
}

/** Parts in units of `decimals`. */
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

const grouped = <Key>(positions: readonly Position[], keyOf: (position: Position) => Key): Map<Key, Position[]> => {
  const groups = new Map<Key, Position[]>();
  for (const position of positions) {
    const key = keyOf(position);
    const group = groups.get(key);
    if (group) group.push(position);
    else groups.set(key, [position]);
  }
  return groups;
};

/** `decimals` must be no fewer than those of any position's token, so that the sum is exact. */
const sumOf = (positions: readonly Position[], decimals: number): Sum => {
  const sums: { -readonly [Part in keyof Parts]: bigint } = { ...partsOf(0n) };
  for (const position of positions) {
    const scale = 10n ** BigInt(decimals - position.token.decimals);
    for (const part of PARTS) sums[part] += position[part] * scale;
  }
  return { ...sums, decimals, positions };
};

/**
 * Sums balances by asset, exactly. When decimals differ between chains, the largest number is used. Omits positions that hold nothing and
 * that nothing is on its way to.
 */
export const totalByAsset = (positions: readonly Position[]): AssetTotal[] => {
  const shown = positions.filter(({ amountBase, pendingInBase }) => amountBase > 0n || pendingInBase > 0n);
  return [...grouped(shown, ({ token }) => token.assetId)].map(([assetId, group]) => {
    const decimals = group.reduce((most, { token }) => Math.max(most, token.decimals), 0);
    const chains = [...grouped(group, ({ token }) => token.chainId)];
    return {
      ...sumOf(group, decimals),
      assetId,
      symbol: group[0]?.token.symbol ?? assetId,
      chains: chains.map(([chainId, here]) => ({ ...sumOf(here, decimals), chainId })),
    };
  });
};

/** Worth in millionths of a dollar, rounded down; null when the price is not known. `priceUsd` is a decimal string. */
export const worthMicroUsd = (amountBase: bigint, decimals: number, priceUsd: string | null): bigint | null => {
  return priceUsd === null ? null : exactWorth({ amountBase, decimals, price: priceUsd }, USD_DECIMALS, "floor");
};

export const formatUsd = (microUsd: bigint | null): string | null =>
  microUsd === null ? null : formatAmount(microUsd, USD_DECIMALS);

/** Worth of a position in millionths of a dollar, rounded down; null when the price is not known. */
export const worthOf = ({ token, amountBase }: Position, priceUsd: string | null): bigint | null =>
  worthMicroUsd(amountBase, token.decimals, priceUsd);

/** The sum, or null when one part is null, because a partial sum would be wrong. */
export const sumOfWorths = (worths: readonly (bigint | null)[]): bigint | null =>
  worths.reduce<bigint | null>((sum, worth) => (sum === null || worth === null ? null : sum + worth), 0n);
