"use client";

import { parseAsInteger, parseAsString, useQueryStates } from "nuqs";
import { useWallets, type WalletRecord } from "@/components/features/wallets/use-wallets";
import { useApiQuery } from "@/components/features/session/use-api";
import { usePublicConfig } from "@/components/providers/public-config";
import type { ResponseOf } from "@/lib/contracts/contract";
import { listTokens } from "@/lib/api-client/calls.gen";

type TokenInfo = ResponseOf<typeof listTokens>["data"][number];

const TOKENS_STALE_MS = 60_000;
const FIRST_CHOICE = "USDC";

/** The wallet, chain, token and amount to receive; the choices live in the address of the page. */
export const useReceive = () => {
  const { chains } = usePublicConfig();
  const wallets = useWallets();
  const tokens = useApiQuery(listTokens, {}, { staleTimeMs: TOKENS_STALE_MS });
  const [choice, setChoice] = useQueryStates(
    { wallet: parseAsString, chain: parseAsInteger, token: parseAsString, amount: parseAsString.withDefault("") },
    { history: "replace" },
  );
  // Of a linked wallet its owner sees the deposits; the service does not look for them.
  const own = (wallets.data?.data ?? []).filter(({ kind }) => kind !== "linked");
  const wallet = own.find(({ id }) => id === choice.wallet) ?? own.find(({ kind }) => kind === "treasury") ?? own[0];
  const chainId = chains.find(({ id }) => id === choice.chain)?.id ?? chains[0]?.id ?? 0;
  const here = (tokens.data?.data ?? []).filter((token) => token.chainId === chainId);
  const token =
    here.find(({ symbol }) => symbol === choice.token) ?? here.find(({ symbol }) => symbol === FIRST_CHOICE) ?? here[0];
  return { wallets, tokens, own, wallet, chains, chainId, here, token, amount: choice.amount, setChoice };
};

export type ReceiveChoice = ReturnType<typeof useReceive>;
export type { TokenInfo, WalletRecord };
