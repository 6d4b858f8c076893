import {
  type DataTag,
  queryOptions,
  type QueryFunction,
  type QueryKey,
} from "@tanstack/react-query";
import type { ApiClient, CallOptions } from "@/lib/api-client/client";
import type { Callable, ResponseOf } from "@/lib/contracts/contract";

/**
 * Queries of the API. The hooks of the browser and the pages that the server renders share these
 * definitions, so both send the same request under the same cache key. A file of definitions has no
 * "use client", because the server cannot read values of such a file.
 */

interface KeyInput {
  readonly params?: unknown;
  readonly query?: unknown;
}

/** The cache key of an answer. Without input, the common prefix of all keys of the route. */
export const queryKeyOf = (contract: Callable, input?: KeyInput): QueryKey =>
  input === undefined
    ? [contract.method, contract.path]
    : [contract.method, contract.path, input.params ?? null, input.query ?? null];

type CallAny = (contract: Callable, options: object) => Promise<unknown>;

/**
 * The default query function of a client: calls the route that the key names. Queries with other
 * keys need their own function.
 */
export const readFrom =
  (api: ApiClient): QueryFunction =>
  ({ queryKey, pageParam, signal }) => {
    const [method, path, params, query] = queryKey as [
      Callable["method"],
      string,
      object,
      object,
    ];
    const page = typeof pageParam === "string" ? { ...query, cursor: pageParam } : query;
    return (api.call as CallAny)({ method, path }, { params, query: page, signal });
  };

export const apiQuery = <C extends Callable>(contract: C, input: CallOptions<C>) =>
  queryOptions<ResponseOf<C>>({ queryKey: queryKeyOf(contract, input) });

/** Rows per page of a list with a "Load more" button. */
export const PAGE_ROWS = 20;

export interface ListQuery<Page> {
  /** Tagged with the type of one page. */
  readonly queryKey: DataTag<QueryKey, Page, Error>;
  readonly initialPageParam: string | null;
  readonly staleTime?: number;
}

export const apiPages = <C extends Callable>(
  contract: C,
  input: CallOptions<C>,
): ListQuery<ResponseOf<C>> => ({
  queryKey: [...queryKeyOf(contract, input), "pages"] as unknown as DataTag<
    QueryKey,
    ResponseOf<C>,
    Error
  >,
  initialPageParam: null,
});
