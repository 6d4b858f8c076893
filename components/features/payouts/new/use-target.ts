"use client";

import { parseAsString, parseAsStringLiteral, useQueryState } from "nuqs";
import { useMemo } from "react";
import type { Account } from "@/components/features/global-accounts/account";
import { useAccount } from "@/components/features/global-accounts/use-accounts";
import { balanceOf, useSwapSetup, type SetupState, type SwapSetup } from "@/components/features/swap/use-swap-setup";
import { PAYOUT_KINDS } from "@/lib/contracts/payout-records";
import { accountRules } from "./account-rules";
import type { RowRules } from "./draft-row";
import { walletRules, type WalletTarget } from "./wallet-rules";

export type PayoutKind = (typeof PAYOUT_KINDS)[number];

const TEXT = parseAsString.withDefault("").withOptions({ history: "replace" });

/** From where the money goes, to which kind of recipients, and the rules that follow from that. */
export interface Target {
  readonly kind: PayoutKind;
  readonly setKind: (kind: PayoutKind) => void;
  readonly setupState: SetupState;
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
  /** The amount of a token or currency that may be paid; null where it is not known. */
  readonly available: (id: string) => string | null;
  /** The owner of the rows; null until it is known. */
  readonly owner: string | null;
}

const walletTarget = (setup: SwapSetup, chainId: string, token: string): WalletTarget | null => {
  const chain = setup.chains.find(({ id }) => String(id) === chainId);
  if (setup.treasury === undefined || chain === undefined) return null;
  const tokens = setup.tokens.filter((each) => each.chainId === chain.id);
  const known = tokens.some((each) => each.address === token);
  const { id, name: chainName } = chain;
  return { chainId: id, chainName, tokens, treasury: setup.treasury.address, defaultToken: known ? token : "" };
};

/** Tokens of the chosen chain that many payouts are made in come first. */
const firstToken = (setup: SwapSetup, chainId: string): string => {
  const tokens = setup.tokens.filter((token) => String(token.chainId) === chainId);
  return (tokens.find(({ symbol }) => symbol === "USDC") ?? tokens[0])?.address ?? "";
};

export const useTarget = (): Target => {
  const setupState = useSwapSetup();
  const setup = setupState.state === "ready" ? setupState.setup : null;
  const [kind, setKind] = useQueryState("to", parseAsStringLiteral(PAYOUT_KINDS).withOptions({ history: "replace" }));
  const [sourceId, setSourceId] = useQueryState("from", TEXT);
  const [chosenChain, setChain] = useQueryState("chain", TEXT);
  const [chosenToken, setToken] = useQueryState("token", TEXT);
  const { data: source, error: sourceError } = useAccount(sourceId);
  const chainId = chosenChain === "" ? String(setup?.chains[0]?.id ?? "") : chosenChain;
  const tokens = setup?.tokens;
  const token = useMemo(() => {
    if (setup === null) return "";
    const there = setup.tokens.some((each) => String(each.chainId) === chainId && each.address === chosenToken);
    return there ? chosenToken : firstToken(setup, chainId);
    // Balances are renewed every few seconds; the token depends on the list alone.
  }, [tokens, chainId, chosenToken]);
  // A link from an account names only the account that pays.
  const shown = kind ?? (sourceId === "" ? "wallets" : "global_accounts");
  const wallets = useMemo(
    () => (setup === null ? null : walletTarget(setup, chainId, token)),
    [tokens, setup?.treasury?.address, chainId, token],
  );
  const rules = useMemo(
    () =>
      shown === "wallets"
        ? wallets === null
          ? null
          : walletRules(wallets)
        : source === undefined
          ? null
          : accountRules(source),
    [shown, wallets, source?.id],
  );
  return {
    kind: shown,
    setKind: (next) => void setKind(next),
    setupState,
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
    available: (id) => {
      if (shown === "global_accounts") return source?.balance.available ?? null;
      return setup?.treasury === undefined
        ? null
        : balanceOf(setup.balances, { address: setup.treasury.address, chainId, token: id });
    },
    owner: setup?.treasury?.id ?? null,
  };
};
