import { byChain, isEmpty } from "@/components/features/overview/worth";
import { isZero, signOf } from "@/components/features/swap/decimal";
import { sharesOf } from "@/lib/core/amount-text";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { formatAmount } from "@/lib/core/money";
import type { TokenTotal } from "./use-balances";

const USD_DIGITS = 6;
/** 100 % in tenths of a per cent. */
const WHOLE_TENTHS = 1000;

export type MovingAmounts = Pick<
  TokenTotal,
  "amount" | "available" | "backing" | "reserved" | "pendingOut" | "quarantined" | "pendingIn"
>;

const amountsOf = ({
  amount,
  available,
  reserved,
  pendingOut,
  quarantined,
  pendingIn,
  backing,
}: MovingAmounts): MovingAmounts => ({
  amount,
  available,
  reserved,
  pendingOut,
  quarantined,
  pendingIn,
  backing,
});

/** A line of the table: a token, its part on one chain, or the part of a chain in one wallet. */
export interface BalanceNode {
  readonly id: string;
  readonly level: 1 | 2 | 3;
  readonly token: string;
  readonly chainId: number | null;
  readonly wallet: { readonly id: string; readonly address: string } | null;
  /** Exact decimal strings in units of the token. */
  readonly amounts: MovingAmounts;
  /** Null when a price is missing, because a partial sum would be wrong. */
  readonly usd: string | null;
  /**
   * Share of the priced total, in tenths of a per cent; null without a price. The shares of the
   * children add up to the parent's share, or to less when some wallets are not listed.
   */
  readonly shareTenths: number | null;
  readonly children: readonly BalanceNode[];
}

/** Decimal dollars in millionths. The service gives at most six digits, so nothing is rounded. */
const micro = (usd: string): bigint => scaledTo(parseDecimal(usd), USD_DIGITS, "floor");

const sumUsd = (worths: readonly (string | null)[]): string | null =>
  worths.includes(null)
    ? null
    : formatAmount(
        worths.reduce((sum, worth) => sum + micro(worth ?? "0"), 0n),
        USD_DIGITS,
      );

export interface PricedTotal {
  /** Null when there are balances but none of them has a price. */
  readonly usd: string | null;
  /** Symbols of the tokens without a price, which the sum excludes. */
  readonly unpriced: readonly string[];
}

export const pricedTotal = ({
  totals,
}: {
  readonly totals: readonly TokenTotal[];
}): PricedTotal => {
  const parts = totals
    .flatMap((total) => total.chains.map((chain) => ({ ...chain, token: total.token })))
    .filter((part) => !isZero(part.amount));
  const priced = parts.flatMap((part) => (part.usd === null ? [] : [part.usd]));
  return {
    usd: parts.length > 0 && priced.length === 0 ? null : sumUsd(priced),
    unpriced: [...new Set(parts.filter((part) => part.usd === null).map((part) => part.token))],
  };
};

type Unshared = Omit<BalanceNode, "shareTenths" | "children"> & {
  readonly children: readonly Unshared[];
};

/**
 * Divides `tenths` among the lines in proportion to their worth. The lines may be worth less than
 * `whole`, because some wallets are not listed. The shares then add up to less than `tenths`.
 */
const withShares = (
  nodes: readonly Unshared[],
  whole: bigint,
  tenths: number,
): BalanceNode[] => {
  const worths = nodes.map(({ usd }) => (usd === null ? 0n : micro(usd)));
  const rest = whole - worths.reduce((sum, worth) => sum + worth, 0n);
  const shares = sharesOf([...worths, rest > 0n ? rest : 0n], tenths);
  return nodes.map((node, index) => {
    const share = shares[index] ?? 0;
    return {
      ...node,
      shareTenths: node.usd === null || whole === 0n ? null : share,
      children: withShares(node.children, worths[index] ?? 0n, share),
    };
  });
};

/** The highest worth first; balances without a price come last. */
const byWorth = (a: Unshared, b: Unshared): number => {
  if (a.usd === null || b.usd === null) return Number(a.usd === null) - Number(b.usd === null);
  return signOf(micro(b.usd) - micro(a.usd));
};

const chainNodes = (total: TokenTotal): Unshared[] =>
  byChain(total)
    .filter((share) => !isEmpty(share))
    .map((share) => {
      const id = `${total.assetId}/${share.chainId}`;
      const { usd } = share;
      const wallets = share.parts
        .filter((part) => !isEmpty(part))
        .map((part) => ({
          id: `${id}/${part.walletId}/${part.token.address}`,
          level: 3 as const,
          token: part.token.symbol,
          chainId: share.chainId,
          wallet: { id: part.walletId, address: part.address },
          amounts: amountsOf(part),
          usd: part.usd,
          children: [],
        }))
        .sort(byWorth);
      return {
        id,
        level: 2 as const,
        token: total.token,
        chainId: share.chainId,
        wallet: null,
        amounts: amountsOf(share),
        usd,
        children: wallets,
      };
    })
    .sort(byWorth);

/**
 * Groups balances by token, chain and wallet, the highest worth first. Empty balances are left out.
 */
export const balanceTree = (balances: {
  readonly totals: readonly TokenTotal[];
}): BalanceNode[] => {
  const whole = micro(pricedTotal(balances).usd ?? "0");
  const nodes = balances.totals
    .filter((total) => !isEmpty(total))
    .map((total) => ({
      id: total.assetId,
      level: 1 as const,
      token: total.token,
      chainId: null,
      wallet: null,
      amounts: amountsOf(total),
      usd: total.usd,
      children: chainNodes(total),
    }))
    .sort(byWorth);
  return withShares(nodes, whole, WHOLE_TENTHS);
};

export const visibleNodes = (
  nodes: readonly BalanceNode[],
  open: ReadonlySet<string>,
): BalanceNode[] =>
  nodes.flatMap((node) => [
    node,
    ...(open.has(node.id) ? visibleNodes(node.children, open) : []),
  ]);

export const openableIds = (nodes: readonly BalanceNode[]): string[] =>
  nodes.flatMap((node) =>
    node.children.length === 0 ? [] : [node.id, ...openableIds(node.children)],
  );
