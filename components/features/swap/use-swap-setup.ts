"use client";

import { useQuery } from "@tanstack/react-query";
import { useBalances, type Balances } from "@/components/features/balances/use-balances";
import type { Reserves, Spendable } from "@/components/features/money-flow/spendable";
import { useReserves } from "@/components/features/reserves/use-reserves";
import { useWallets, type WalletRecord } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { joinQueries, type QueryState } from "@/components/ui/states";
import type { PublicChain } from "@/lib/http/public-config";
import { compareAmounts, sumAmounts } from "./decimal";
import { type TokenInfo, tokensQuery } from "./tokens";

/** The data that the form needs before it can be rendered. */
export interface SwapSetup {
  readonly wallets: readonly WalletRecord[];
  readonly treasury: WalletRecord | undefined;
  readonly tokens: readonly TokenInfo[];
  readonly chains: readonly PublicChain[];
  /** Undefined until loaded. Until then MAX and the balances are missing, and the rest works. */
  readonly balances: Balances | undefined;
  /** Undefined until loaded. The part that backs global accounts may not leave the treasury. */
  readonly reserves: Reserves | undefined;
}

export const useSwapSetup = (): QueryState<SwapSetup> => {
  const { chains } = usePublicConfig();
  const wallets = useWallets();
  const tokens = useQuery(tokensQuery);
  const balances = useBalances();
  const reserves = useReserves();
  const queries = [wallets, tokens];
  if (wallets.data === undefined || tokens.data === undefined)
    return joinQueries<SwapSetup>(queries, undefined);
  const all = wallets.data.data;
  return joinQueries(queries, {
    wallets: all,
    treasury: all.find((wallet) => wallet.kind === "treasury"),
    tokens: tokens.data.data,
    chains,
    balances: balances.data,
    reserves: reserves.data?.data,
  });
};

export interface HeldPlace {
  readonly address: string;
  readonly chainId: string;
  readonly token: string;
}

const NOTHING = { available: "0", backing: "0" };

interface HeldParts {
  readonly available: string;
  readonly backing: string;
}

/** A key that is unique for each wallet, chain and token. */
export const placeKey = ({ address, chainId, token }: HeldPlace): string =>
  `${address.toLowerCase()} ${chainId} ${token}`;

/**
 * Returns a function that reads the available part of a wallet's balance and the part that backs
 * global accounts; null while they are unknown.
 */
const partsReader = (balances: Balances | undefined): ((at: HeldPlace) => HeldParts | null) => {
  if (balances === undefined) return () => null;
  const stale = new Set(balances.stale.map((chain) => String(chain.chainId)));
  const known = new Map<string, HeldParts>(
    balances.totals.flatMap((total) =>
      total.breakdown.map((part) => [
        placeKey({
          address: part.address,
          chainId: String(part.chainId),
          token: part.token.address,
        }),
        part,
      ]),
    ),
  );
  return (at) => {
    if (stale.has(at.chainId)) return null;
    const listed = known.get(placeKey(at));
    if (listed !== undefined) return listed;
    // When there are further pages, the balance of a wallet that is not listed is unknown.
    return balances.nextCursor === null ? NOTHING : null;
  };
};

/**
 * Returns a function that reads the amount of a wallet's token that may be moved now; null while
 * the amount is unknown.
 */
export const balanceReader = (
  balances: Balances | undefined,
): ((at: HeldPlace) => string | null) => {
  const partsOf = partsReader(balances);
  return (at) => partsOf(at)?.available ?? null;
};

/** The amount of a wallet's token that may be moved now; null while it is unknown. */
export const balanceOf = (balances: Balances | undefined, at: HeldPlace): string | null =>
  balanceReader(balances)(at);

/**
 * The available amount of a wallet's token plus the part that backs global accounts; null while
 * unknown. A withdrawal may use all of it, because it also reduces the account's claim.
 */
export const freeOf = (balances: Balances | undefined, at: HeldPlace): string | null => {
  const parts = partsReader(balances)(at);
  return parts === null ? null : sumAmounts([parts.available, parts.backing]);
};

/**
 * The amount that may leave a wallet now, and the part of its balance that backs global accounts.
 */
export const spendableAt = (setup: SwapSetup, at: HeldPlace): Spendable => {
  const parts = partsReader(setup.balances)(at);
  if (parts === null) return { amount: null, backing: null };
  return {
    amount: parts.available,
    backing: compareAmounts(parts.backing, "0") === 0 ? null : parts.backing,
  };
};
