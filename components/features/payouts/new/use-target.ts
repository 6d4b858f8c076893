"use client";

import { parseAsString, parseAsStringLiteral, useQueryState } from "nuqs";
import { useMemo } from "react";
import { type Account, useAccount } from "@/components/features/global-accounts/account";
import {
  balanceOf,
  useSwapSetup,
  type SwapSetup,
} from "@/components/features/swap/use-swap-setup";
import { type QueryState } from "@/components/ui/states";
import { PAYOUT_KINDS } from "@/lib/core/payout-facts";
import { accountRules } from "./account-rules";
import type { RowRules } from "./draft-row";
import { walletRules, type WalletTarget } from "./wallet-rules";

export type PayoutKind = (typeof PAYOUT_KINDS)[number];

const TEXT = parseAsString.withDefault("").withOptions({ history: "replace" });

/** The source of the money, the kind of its recipients, and the rules of their rows. */
export interface Target {
  readonly kind: PayoutKind;
  readonly setKind: (kind: PayoutKind) => void;
  readonly setupQuery: QueryState<SwapSetup>;
  readonly chainId: string;
  readonly setChainId: (chainId: string) => void;
  readonly token: string;
  readonly setToken: (address: string) => void;
  readonly sourceId: string;
  readonly setSourceId: (id: string) => void;
  readonly source: Account | undefined;
  readonly sourceError: Error | null;
  /** Null until the treasury and the chain, or the account, are known. */
  readonly wallets: WalletTarget | null;
  readonly rules: RowRules | null;
  /** The available amount of a token or currency; null while it is unknown. */
  readonly available: (id: string) => string | null;
  /**
   * Id of the project's treasury, which identifies the owner of the stored rows; null until it is
   * known.
   */
  readonly owner: string | null;
}

const walletTarget = (
  setup: SwapSetup,
  chainId: string,
  token: string,
): WalletTarget | null => {
  const chain = setup.chains.find(({ id }) => String(id) === chainId);
  if (setup.treasury === undefined || chain === undefined) return null;
  const tokens = setup.tokens.filter((each) => each.chainId === chain.id);
  const known = tokens.some((each) => each.address === token);
  return {
    chainId: chain.id,
    chainName: chain.name,
    tokens,
    treasury: setup.treasury.address,
    defaultToken: known ? token : "",
  };
};

/** The chain's USDC, because most payouts are in USDC; otherwise the chain's first token. */
const firstToken = (setup: SwapSetup, chainId: string): string => {
  const tokens = setup.tokens.filter((token) => String(token.chainId) === chainId);
  return (tokens.find(({ symbol }) => symbol === "USDC") ?? tokens[0])?.address ?? "";
};

/** Whether one unit of the account's currency is one US dollar, on every chain. */
const isDollar = ({ assetId }: Account, tokens: SwapSetup["tokens"]): boolean => {
  const same = tokens.filter((token) => token.assetId === assetId);
  return same.length > 0 && same.every((token) => token.usdPegged);
};

export const useTarget = (): Target => {
  const setupQuery = useSwapSetup();
  const setup = setupQuery.data ?? null;
  const [kind, setKind] = useQueryState(
    "to",
    parseAsStringLiteral(PAYOUT_KINDS).withOptions({ history: "replace" }),
  );
  const [sourceId, setSourceId] = useQueryState("from", TEXT);
  const [chosenChain, setChain] = useQueryState("chain", TEXT);
  const [chosenToken, setToken] = useQueryState("token", TEXT);
  const { data: source, error: sourceError } = useAccount(sourceId);
  const chainId = chosenChain === "" ? String(setup?.chains[0]?.id ?? "") : chosenChain;
  const tokens = setup?.tokens;
  const token = useMemo(() => {
    if (setup === null) return "";
    const there = setup.tokens.some(
      (each) => String(each.chainId) === chainId && each.address === chosenToken,
    );
    return there ? chosenToken : firstToken(setup, chainId);
    // Only the setup's list of tokens matters here. The setup's balances change every few seconds.
  }, [tokens, chainId, chosenToken]);
  // A link from an account has the paying account, but no kind.
  const shown = kind ?? (sourceId === "" ? "wallets" : "global_accounts");
  const wallets = useMemo(
    () => (setup === null ? null : walletTarget(setup, chainId, token)),
    [tokens, setup?.treasury?.address, chainId, token],
  );
  const rules = useMemo(() => {
    if (shown === "wallets") return wallets === null ? null : walletRules(wallets);
    if (source === undefined) return null;
    return accountRules({ ...source, isDollar: isDollar(source, tokens ?? []) });
  }, [shown, wallets, source?.id, tokens]);
  const available = (id: string): string | null => {
    if (shown === "global_accounts") return source?.balance.available ?? null;
    if (setup?.treasury === undefined) return null;
    return balanceOf(setup.balances, { address: setup.treasury.address, chainId, token: id });
  };
  return {
    kind: shown,
    setKind: (next) => void setKind(next),
    setupQuery,
    chainId,
    setChainId: (next) => void setChain(next),
    token,
    setToken: (next) => void setToken(next),
    sourceId,
    setSourceId: (next) => void setSourceId(next === "" ? null : next),
    source,
    sourceError,
    wallets,
    rules,
    available,
    owner: setup?.treasury?.id ?? null,
  };
};
