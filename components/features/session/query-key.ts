import type { QueryKey } from "@tanstack/react-query";
import type { CallOptions } from "@/lib/api-client/client";
import type { Callable } from "@/lib/contracts/contract";

interface KeyInput {
  readonly params?: unknown;
  readonly query?: unknown;
}

/** Under which the answer is kept; without input, the key of all answers of that route: for `invalidateQueries`. */
export const queryKeyOf = (contract: Callable, input?: KeyInput): QueryKey =>
  input === undefined
    ? [contract.method, contract.path]
    : [contract.method, contract.path, input.params ?? null, input.query ?? null];

/** The last part of the key of a list that is read page by page. */
export const PAGES_KEY = "pages";

/** Rows of one page of such a list. */
export const PAGE_ROWS = 20;

/** A GET of the API that a page needs at its first drawing. The server reads it, so that the page arrives with its data. */
export interface PageQuery {
  readonly contract: Callable;
  readonly input: Readonly<Record<string, unknown>>;
  readonly key: QueryKey;
  /** Whether the key is that of an infinite query, whose first page this is. */
  readonly paged: boolean;
}

/** The query of `useApiQuery(contract, input)`. */
export const pageQuery = <C extends Callable>(contract: C, input: CallOptions<C>): PageQuery => ({
  contract,
  input: { ...(input as object) },
  key: queryKeyOf(contract, input),
  paged: false,
});

/** The query for the first page of a list under `key`. */
export const firstPageQuery = <C extends Callable>(contract: C, input: CallOptions<C>, key: QueryKey): PageQuery => ({
  contract,
  input: { ...(input as object) },
  key,
  paged: true,
});
