"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { queryKeyOf } from "@/components/features/session/query-key";
import { useApi } from "@/components/features/session/use-api";
import { useSettled } from "@/components/ui/use-settled";
import type { BodyInput, ResponseOf } from "@/lib/contracts/contract";
import { evaluatePolicies } from "@/lib/api-client/calls.gen";

export type Evaluation = ResponseOf<typeof evaluatePolicies>;
type DryRunBody = BodyInput<typeof evaluatePolicies>;

interface DryRun {
  /** Of what was typed last; the one before stays while the next is on its way. */
  readonly evaluation: Evaluation | undefined;
  /** `evaluation` does not answer what is typed now. */
  readonly isOutdated: boolean;
  readonly error: unknown;
  readonly retry: () => void;
}

/** The policies' decision about a movement, asked for when the typing settles. Null sends no request. */
export const useDryRun = (body: DryRunBody | null): DryRun => {
  const api = useApi();
  const key = body === null ? null : JSON.stringify(body);
  const [settled] = useSettled(key);
  const query = useQuery({
    queryKey: [...queryKeyOf(evaluatePolicies), settled],
    queryFn: ({ signal }) => api.call(evaluatePolicies, { body: JSON.parse(settled ?? "null") as DryRunBody, signal }),
    enabled: settled !== null && key !== null,
    placeholderData: keepPreviousData,
    // Movements that were made since then change the answer.
    staleTime: 0,
  });
  return {
    evaluation: key === null ? undefined : query.data,
    isOutdated: settled !== key || query.isPlaceholderData || query.isFetching,
    error: settled === key ? query.error : null,
    retry: () => void query.refetch(),
  };
};
