"use client";

import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { usePublicConfig } from "@/components/providers/public-config";
import { queryKeyOf } from "@/components/features/session/query-key";
import { getReadiness } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type Readiness = ResponseOf<typeof getReadiness>;

const REFRESH_MS = 15_000;
const TIMEOUT_MS = 10_000;

// A proxy may answer 503 as well, with a body of its own.
const isReadiness = (body: unknown): body is Readiness =>
  typeof body === "object" && body !== null && "parts" in body && Array.isArray(body.parts);

// The answer has the same body whether all is well (200) or not (503), so the client, which throws at 503, does not fit here.
const fetchReadiness = async (signal: AbortSignal): Promise<Readiness> => {
  const response = await fetch(`/api${getReadiness.path}`, {
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
  });
  const body: unknown = await response.json().catch(() => null);
  if (!isReadiness(body))
    throw new Error(`The service answered ${String(response.status)} without saying how its parts are.`);
  return body;
};

/** Whether the service may sign payments. */
export const SIGNING_PART = "signing";

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
