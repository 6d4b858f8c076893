"use client";

import {
  type DataTag,
  type QueryKey,
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
  type UseQueryOptions,
  type UseQueryResult,
} from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { useLiveIntervalMs } from "@/components/features/live/live-state";
import { readPreference } from "@/components/ui/preferences";
import {
  type ApiClient,
  ApiError,
  type CallOptions,
  createApiClient,
} from "@/lib/api-client/client";
import type { Callable, ResponseOf } from "@/lib/contracts/contract";
import { useAccessToken } from "./access-token";
import { queryKeyOf } from "./api-query";

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
            ...(token === null
              ? []
              : [["authorization", `Bearer ${token}`] as [string, string]]),
            ...(project === null ? [] : [["x-project-id", project] as [string, string]]),
          ];
        },
      }),
    [tokens],
  );
};

// The compiler cannot check the options of a generic contract; the hooks' callers are checked.
const callAny = <C extends Callable>(
  api: ApiClient,
  contract: C,
  options: CallOptions<C>,
): Promise<ResponseOf<C>> =>
  (api.call as (contract: C, options: CallOptions<C>) => Promise<ResponseOf<C>>)(
    contract,
    options,
  );

/**
 * Reads a GET route whose changes the stream of changes reports. The route is polled only while
 * the stream is down.
 */
export const useLiveQuery = <Data>(query: UseQueryOptions<Data>): UseQueryResult<Data> => {
  const refetchInterval = useLiveIntervalMs();
  return useQuery({ ...query, refetchInterval });
};

type Stale = Callable | { readonly queryKey: QueryKey };

interface Cache {
  /** Replaces a cached answer with a newer one from the service. */
  readonly set: <Data>(
    query: { readonly queryKey: DataTag<QueryKey, Data, Error> },
    data: NoInfer<Data>,
  ) => void;
  /**
   * Marks the cached answers of these routes and queries as stale. Resolves when the visible
   * answers have been read again.
   */
  readonly refresh: (...stale: readonly Stale[]) => Promise<void>;
}

export const useCache = (): Cache => {
  const client = useQueryClient();
  return useMemo(
    () => ({
      set: ({ queryKey }, data) => void client.setQueryData(queryKey, data),
      refresh: async (...stale) => {
        const keys = stale.map((one) => ("queryKey" in one ? one.queryKey : queryKeyOf(one)));
        await Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey })));
      },
    }),
    [client],
  );
};

export const useApiMutation = <C extends Callable>(
  contract: C,
): UseMutationResult<ResponseOf<C>, Error, CallOptions<C>> => {
  const api = useApi();
  return useMutation({ mutationFn: (input: CallOptions<C>) => callAny(api, contract, input) });
};

interface SentOnce<C extends Callable> {
  readonly mutation: UseMutationResult<ResponseOf<C>, Error, CallOptions<C>>;
  /**
   * Sends the request.
   * @throws ApiError
   */
  readonly send: (input: CallOptions<C>) => Promise<ResponseOf<C>>;
}

const NONE = { text: "", key: "" };

/**
 * A POST that must not be carried out twice. When a request gets no answer, the same input is sent
 * again with the same idempotency key. After any answer, including an error, the next request gets
 * a new key.
 */
export const useSentOnce = <C extends Callable>(contract: C): SentOnce<C> => {
  const mutation = useApiMutation(contract);
  const last = useRef(NONE);
  const send = async (input: CallOptions<C>): Promise<ResponseOf<C>> => {
    const text = JSON.stringify(input);
    if (text !== last.current.text) last.current = { text, key: crypto.randomUUID() };
    try {
      const answer = await mutation.mutateAsync({ ...input, idempotencyKey: last.current.key });
      last.current = NONE;
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 0) last.current = NONE;
      throw error;
    }
  };
  return { mutation, send };
};
