"use client";

import {
  useInfiniteQuery,
  type UseInfiniteQueryResult,
  useQuery,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useMemo } from "react";
import { type ApiKey, useApiKeys } from "@/components/features/api-keys/use-api-keys";
import { apiQuery, queryKeyOf } from "@/components/features/session/api-query";
import { useApi } from "@/components/features/session/use-api";
import { type TokenInfo, tokensQuery } from "@/components/features/swap/tokens";
import {
  useWallets,
  walletName,
  type WalletRecord,
} from "@/components/features/wallets/use-wallets";
import { usePublicConfig } from "@/components/providers/public-config";
import { shorten } from "@/components/ui/address";
import { joinQueries, type QueryState } from "@/components/ui/states";
import { getPolicies, listPolicyVersions } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { PolicyScope } from "@/lib/contracts/policy-rules";
import type { PublicChain } from "@/lib/http/public-config";
import { isSameText } from "@/lib/core/same-text";
import type { PolicyNames } from "./rule-words";

export type Policies = ResponseOf<typeof getPolicies>;
export type Policy = Policies["policies"][number];

export const policiesQuery = apiQuery(getPolicies, {});

export const usePolicies = (): UseQueryResult<Policies> => useQuery(policiesQuery);

/** Maximum number of versions in one response. */
const PAGE = 100;

/** Versions of one policy, newest first. */
export const usePolicyVersions = ({
  scope,
  subjectId,
}: PolicySubject): UseInfiniteQueryResult<{
  readonly data: readonly Policy[];
}> => {
  const api = useApi();
  const query = { scope, subjectId };
  return useInfiniteQuery({
    queryKey: [...queryKeyOf(listPolicyVersions, { query }), "versions"],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listPolicyVersions, {
        query: { ...query, ...(pageParam === null ? {} : { before: pageParam }) },
        signal,
      }),
    getNextPageParam: ({ data }) =>
      data.length < PAGE ? null : (data.at(-1)?.version ?? null),
    select: ({ pages }) => ({ data: pages.flatMap(({ data }) => data) }),
  });
};

export interface PolicySubject {
  readonly scope: PolicyScope;
  /** Undefined for the project. */
  readonly subjectId: string | undefined;
}

/** Last part of the path of the project's policy. */
const PROJECT_PATH = "project";

export const PROJECT: PolicySubject = { scope: "project", subjectId: undefined };

export const SCOPE_WORDS: Readonly<Record<PolicyScope, string>> = {
  project: "Whole project",
  wallet: "Wallet",
  key: "API key",
};

export const pathOfSubject = ({
  subjectId = PROJECT_PATH,
}: Pick<PolicySubject, "subjectId">): string => `/settings/policies/${subjectId}`;

/** The subject that a page's path names; null when it names none. */
export const subjectOf = (param: string): PolicySubject | null => {
  if (param === PROJECT_PATH) return PROJECT;
  if (param.startsWith("wal_")) return { scope: "wallet", subjectId: param };
  if (param.startsWith("key_")) return { scope: "key", subjectId: param };
  return null;
};

export const isOf = (
  policy: { readonly scope: PolicyScope; readonly subjectId: string },
  { scope, subjectId }: PolicySubject,
): boolean => policy.scope === scope && (scope === "project" || policy.subjectId === subjectId);

export interface PolicySetup {
  readonly policies: Policies;
  readonly wallets: readonly WalletRecord[];
  /** Keys that are not revoked. */
  readonly keys: readonly ApiKey[];
  readonly tokens: readonly TokenInfo[];
  readonly chains: readonly PublicChain[];
  readonly names: PolicyNames;
  /**
   * The subject's name, such as `Treasury` or `Key Payroll`; the shortened id of a removed subject.
   */
  readonly nameOf: (subject: PolicySubject) => string;
}

/** Names for the ids in rules. Without a known name, the id itself is shown. */
const usePolicyNames = (): PolicyNames => {
  const { chains } = usePublicConfig();
  const tokens = useQuery(tokensQuery).data?.data;
  return useMemo(
    () => ({
      chain: (chainId) =>
        chains.find(({ id }) => id === chainId)?.name ?? `chain ${String(chainId)}`,
      token: (chainId, token) =>
        tokens?.find((one) => one.chainId === chainId && isSameText(one.address, token))
          ?.symbol ?? shorten(token),
      asset: (assetId) => tokens?.find((one) => one.assetId === assetId)?.symbol ?? assetId,
    }),
    [chains, tokens],
  );
};

export const usePolicySetup = (): QueryState<PolicySetup> => {
  const { chains } = usePublicConfig();
  const policies = usePolicies();
  const wallets = useWallets();
  const keys = useApiKeys();
  const tokens = useQuery(tokensQuery);
  const names = usePolicyNames();
  const queries = [policies, wallets, keys, tokens];
  if (
    policies.data === undefined ||
    wallets.data === undefined ||
    keys.data === undefined ||
    tokens.data === undefined
  )
    return joinQueries<PolicySetup>(queries, undefined);
  const all = wallets.data.data;
  const live = keys.data.data.filter(({ revokedAt }) => revokedAt === null);
  const nameOf = ({ scope, subjectId }: PolicySubject): string => {
    if (scope === "project") return SCOPE_WORDS.project;
    const wallet = all.find(({ id }) => id === subjectId);
    const key = live.find(({ id }) => id === subjectId);
    if (wallet !== undefined) return walletName(wallet);
    return key === undefined ? shorten(subjectId ?? "", 8) : `Key ${key.name}`;
  };
  return joinQueries(queries, {
    policies: policies.data,
    wallets: all,
    keys: live,
    tokens: tokens.data.data,
    chains,
    names,
    nameOf,
  });
};
