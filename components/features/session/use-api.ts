"use client";

import { useMutation, useQuery, type UseMutationResult, type UseQueryResult } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLiveIntervalMs } from "@/components/features/live/live-state";
import { readPreference } from "@/components/ui/preferences";
import { createApiClient, type ApiClient, type CallOptions } from "@/lib/api-client/client";
import type { Callable, ResponseOf } from "@/lib/contracts/contract";
import { useAccessToken } from "./access-token";
import { queryKeyOf } from "./query-key";

const BASE_URL = "/api";

/** The typed client of the API, with the signed-in person's access token and the chosen project. */
export const useApi = (): ApiClient => {
  const tokens = useAccessToken();
  return useMemo(
    () =>
      createApiClient({
        baseUrl: BASE_URL,
        headers: async (): Promise<HeadersInit> => {
          const token = await tokens.current();
          const project = readPreference("project");
          return [
            ...(token === null ? [] : [["authorization", `Bearer ${token}`] as [string, string]]),
            ...(project === null ? [] : [["x-project-id", project] as [string, string]]),
          ];
        },
      }),
    [tokens],
  );
};

// For a contract that is a type parameter the compiler cannot see that its options fit; callers of the hooks are checked.
const callAny = <C extends Callable>(api: ApiClient, contract: C, options: CallOptions<C>): Promise<ResponseOf<C>> =>
  (api.call as (contract: C, options: CallOptions<C>) => Promise<ResponseOf<C>>)(contract, options);

interface QueryOptions {
  readonly enabled?: boolean;
  readonly refetchIntervalMs?: number | false;
  /** The stream of changes says when it is old, so it is polled only while the stream is down. */
  readonly live?: boolean;
  readonly staleTimeMs?: number;
}

/** A GET of the API as a query. The error is an `ApiError`; show it by `ErrorState`. */
export const useApiQuery = <C extends Callable>(
  contract: C,
  input: CallOptions<C>,
  { enabled = true, refetchIntervalMs = false, live = false, staleTimeMs }: QueryOptions = {},
): UseQueryResult<ResponseOf<C>> => {
  const api = useApi();
  const liveIntervalMs = useLiveIntervalMs();
  return useQuery({
    queryKey: queryKeyOf(contract, input),
    queryFn: ({ signal }) => callAny(api, contract, { ...input, signal }),
    enabled,
    refetchInterval: live ? liveIntervalMs : refetchIntervalMs,
    ...(staleTimeMs === undefined ? {} : { staleTime: staleTimeMs }),
  });
};

/** Anything but a GET, as a mutation over its input. */
export const useApiMutation = <C extends Callable>(
  contract: C,
): UseMutationResult<ResponseOf<C>, Error, CallOptions<C>> => {
  const api = useApi();
  return useMutation({ mutationFn: (input: CallOptions<C>) => callAny(api, contract, input) });
};
