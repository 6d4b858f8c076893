"use client";

import { useInfiniteQuery, type UseInfiniteQueryResult, type UseQueryResult } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi, useApiQuery } from "@/components/features/session/use-api";
import type { ResponseOf } from "@/lib/contracts/contract";
import { getPolicies, listPolicyVersions } from "@/lib/api-client/calls.gen";
import type { PolicySubject } from "./subject";

export type Policies = ResponseOf<typeof getPolicies>;
export type Policy = Policies["policies"][number];

/** The limits on the project's money: its policies, and the limits of its API keys. */
export const usePolicies = (): UseQueryResult<Policies> => useApiQuery(getPolicies, {});

/** The number of versions that one request answers at most. */
const PAGE = 100;

/** Versions of one policy, newest first. */
export const usePolicyVersions = ({
  scope,
  subjectId,
}: Pick<PolicySubject, "scope" | "subjectId">): UseInfiniteQueryResult<readonly Policy[]> => {
  const api = useApi();
  return useInfiniteQuery({
    queryKey: [...queryKeyOf(listPolicyVersions), scope, subjectId ?? null],
    initialPageParam: null as number | null,
    queryFn: ({ pageParam, signal }) =>
      api.call(listPolicyVersions, {
        query: {
          scope,
          ...(subjectId === undefined ? {} : { subjectId }),
          ...(pageParam === null ? {} : { before: pageParam }),
        },
        signal,
      }),
    getNextPageParam: ({ data }) => (data.length < PAGE ? null : (data.at(-1)?.version ?? null)),
    select: ({ pages }): readonly Policy[] => pages.flatMap(({ data }) => data),
  });
};
