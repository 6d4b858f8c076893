"use client";

import { useBalances, type Balances } from "@/components/features/overview/use-balances";
import { useApiQuery } from "@/components/features/session/use-api";
import { useWallets, type WalletRecord } from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { spendableOf, type Reserves, type Spendable } from "@/components/features/money-flow/spendable";
import { getReserves, listTokens } from "@/lib/api-client/calls.gen";
import type { PublicChain } from "@/lib/http/public-config";
import type { TokenInfo } from "./types";

const TOKENS_STALE_MS = 30_000;

/** The data that the form needs before it can be drawn. */
export interface SwapSetup {
  readonly wallets: readonly WalletRecord[];
  readonly treasury: WalletRecord | undefined;
  readonly tokens: readonly TokenInfo[];
  readonly chains: readonly PublicChain[];
  /** Undefined until known: MAX and the balances then are missing, the rest works. */
  readonly balances: Balances | undefined;
  /** Undefined until known. The part that backs global accounts may not leave the treasury. */
  readonly reserves: Reserves | undefined;
}

export type SetupState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown; readonly retry: () => void }
  | { readonly state: "ready"; readonly setup: SwapSetup };

export const useSwapSetup = (): SetupState => {
  const { chains } = usePublicConfig();
  const wallets = useWallets();
  const tokens = useApiQuery(listTokens, {}, { staleTimeMs: TOKENS_STALE_MS });
  const balances = useBalances();
  const reserves = useApiQuery(getReserves, {}, { live: true });
  if (wallets.data !== undefined && tokens.data !== undefined) {
    const all = wallets.data.data;
    const treasury = all.find((wallet) => wallet.kind === "treasury");
    return {
      state: "ready",
      setup: {
        wallets: all,
        treasury,
        tokens: tokens.data.data,
        chains,
        balances: balances.data,
        reserves: reserves.data?.data,
      },
    };
  }
  if (wallets.isPending || tokens.isPending) return { state: "loading" };
  const retry = (): void => {
    void wallets.refetch();
    void tokens.refetch();
  };
  return { state: "failed", error: wallets.error ?? tokens.error, retry };
};

/** The amount of a wallet's token that may be moved now; null while it is not known. */
export const balanceOf = (
  balances: Balances | undefined,
  at: { readonly address: string; readonly chainId: string; readonly token: string },
): string | null => {
  if (balances === undefined) return null;
  if (balances.stale.some((chain) => String(chain.chainId) === at.chainId)) return null;
  const part = balances.totals
    .flatMap((total) => total.breakdown)
    .find(
      (one) =>
        one.address.toLowerCase() === at.address.toLowerCase() &&
        String(one.chainId) === at.chainId &&
        one.token.address === at.token,
    );
  if (part !== undefined) return part.available;
  // A wallet beyond the listed ones may hold something.
  return balances.nextCursor === null ? "0" : null;
};

/** The amount that may leave a wallet now, reserves of global accounts considered. */
export const spendableAt = (
  setup: SwapSetup,
  at: { readonly address: string; readonly chainId: string; readonly token: string },
): Spendable => {
  const token = setup.tokens.find((one) => String(one.chainId) === at.chainId && one.address === at.token);
  if (token === undefined) return { amount: null, backing: null };
  const isTreasury = setup.treasury?.address.toLowerCase() === at.address.toLowerCase();
  const available = balanceOf(setup.balances, at);
  return spendableOf({ isTreasury, chainId: token.chainId, assetId: token.assetId, available }, setup.reserves);
};
