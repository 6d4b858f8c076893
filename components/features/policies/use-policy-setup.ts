"use client";

import { useMemo } from "react";
import type { ApiKey } from "@/components/features/api-keys/api-key";
import { useApiQuery } from "@/components/features/session/use-api";
import type { TokenInfo } from "@/components/features/swap/types";
import { useWallets, type WalletRecord } from "@/components/features/wallets/use-wallets";
import { walletName } from "@/components/features/wallets/wallet-name";
import { usePublicConfig } from "@/components/providers/public-config";
import { shorten } from "@/components/ui/address";
import { listApiKeys, listTokens } from "@/lib/api-client/calls.gen";
import type { PublicChain } from "@/lib/http/public-config";
import type { PolicyNames } from "./rule-words";
import type { PolicySubject } from "./subject";
import { usePolicies, type Policies } from "./use-policies";

const STALE_MS = 30_000;

/** Everything that the pages of policies choose from and name. */
export interface PolicySetup {
  readonly policies: Policies;
  readonly wallets: readonly WalletRecord[];
  /** Keys that are not revoked. */
  readonly keys: readonly ApiKey[];
  readonly tokens: readonly TokenInfo[];
  readonly chains: readonly PublicChain[];
  readonly names: PolicyNames;
  /** `Treasury`, `Key Payroll`; the id of what is not there any more. */
  readonly nameOf: (subject: PolicySubject) => string;
}

export type PolicySetupState =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: unknown; readonly retry: () => void }
  | { readonly state: "ready"; readonly setup: PolicySetup };

/** Names for the ids in rules; an id without a known name is shown itself. */
export const usePolicyNames = (): PolicyNames & { readonly tokens: readonly TokenInfo[] | undefined } => {
  const { chains } = usePublicConfig();
  const tokens = useApiQuery(listTokens, {}, { staleTimeMs: STALE_MS }).data?.data;
  return useMemo(
    () => ({
      tokens,
      chain: (chainId) => chains.find(({ id }) => id === chainId)?.name ?? `chain ${String(chainId)}`,
      token: (chainId, token) =>
        tokens?.find((one) => one.chainId === chainId && one.address.toLowerCase() === token.toLowerCase())?.symbol ??
        shorten(token),
      asset: (assetId) => tokens?.find((one) => one.assetId === assetId)?.symbol ?? assetId,
    }),
    [chains, tokens],
  );
};

export const usePolicySetup = (): PolicySetupState => {
  const { chains } = usePublicConfig();
  const policies = usePolicies();
  const wallets = useWallets();
  const keys = useApiQuery(listApiKeys, {}, { staleTimeMs: STALE_MS });
  const { tokens, ...names } = usePolicyNames();
  const listed = useApiQuery(listTokens, {}, { staleTimeMs: STALE_MS });
  if (policies.data !== undefined && wallets.data !== undefined && keys.data !== undefined && tokens !== undefined) {
    const all = wallets.data.data;
    const live = keys.data.data.filter(({ revokedAt }) => revokedAt === null);
    const nameOf = ({ scope, subjectId }: PolicySubject): string => {
      if (scope === "project") return "Whole project";
      const wallet = all.find(({ id }) => id === subjectId);
      const key = live.find(({ id }) => id === subjectId);
      if (wallet !== undefined) return walletName(wallet);
      return key === undefined ? shorten(subjectId ?? "", 8) : `Key ${key.name}`;
    };
    return {
      state: "ready",
      setup: { policies: policies.data, wallets: all, keys: live, tokens, chains, names, nameOf },
    };
  }
  const queries = [policies, wallets, keys, listed];
  if (queries.some(({ isPending }) => isPending)) return { state: "loading" };
  const retry = (): void => {
    for (const query of queries) void query.refetch();
  };
  return { state: "failed", error: queries.find(({ error }) => error !== null)?.error, retry };
};
