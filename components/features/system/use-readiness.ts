"use client";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import type { z } from "zod";
import { usePublicConfig } from "@/components/providers/public-config";
import { getReadiness, readinessRecord } from "@/lib/contracts/system";
import { queryKeyOf } from "@/components/features/session/query-key";

export type Readiness = z.output<typeof readinessRecord>;

const REFRESH_MS = 15_000;
const TIMEOUT_MS = 10_000;

// The answer has the same body whether all is well (200) or not (503), so the client, which throws at 503, does not fit here.
const fetchReadiness = async (signal: AbortSignal): Promise<Readiness> => {
  const response = await fetch(`/api${getReadiness.path}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const parsed = readinessRecord.safeParse(await response.json().catch(() => null));
  if (!parsed.success)
    throw new Error(`The service answered ${String(response.status)} without saying how its parts are.`);
  return parsed.data;
};

/** `chain:31337` → the name of that chain; other parts have names already. */
export const usePartName = (): ((part: string) => string) => {
  const { chains } = usePublicConfig();
  return (part) => chains.find((chain) => part === `chain:${String(chain.id)}`)?.name ?? part;
};

/** Each part that the service stands on, and whether it works. */
export const useReadiness = (): UseQueryResult<Readiness> =>
  useQuery({
    queryKey: queryKeyOf(getReadiness),
    queryFn: ({ signal }) => fetchReadiness(signal),
    refetchInterval: REFRESH_MS,
  });
