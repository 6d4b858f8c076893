import type { RouteRequest } from "@/lib/core/route-request";
import type { Status } from "@/lib/core/status";
import type { CreatedBetween } from "@/lib/platform/db/list-filters";

const TRANSACTION_HASH = /^0x[0-9a-f]{64}$/;
const NAMES = /^(0x[0-9a-f]{40}|(tr|qt|wal)_.*)$/;

export const chainTerm = (chainId: number): string => `chain:${String(chainId)}`;
const tokenTerm = (symbol: string): string => `token:${symbol.toLowerCase()}`;

/**
 * The distinct lower-case terms by which the activity list finds an operation.
 * @param ids ids of its quote, transfer or wallet
 */
export const searchTermsOf = (
  request: RouteRequest,
  wallets: readonly { readonly id: string }[],
  ids: readonly (string | null)[],
): string[] => {
  const tokens = [...request.sources.map(({ token }) => token), request.destination.token];
  const terms = [
    ...request.sources.map(({ owner }) => owner),
    request.destination.recipient,
    ...wallets.map(({ id }) => id),
    ...tokens.flatMap(({ chainId, symbol }) => [chainTerm(chainId), tokenTerm(symbol)]),
    ...ids.filter((id) => id !== null),
  ];
  return [...new Set(terms.map((term) => term.toLowerCase()))];
};

export type Search =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "hash"; readonly hash: string }
  | { readonly by: "term"; readonly term: string };

/**
 * Recognises the id of an operation, a transaction hash, an address, or the id of a transfer, quote
 * or wallet. Any other text is treated as a token symbol.
 */
export const readSearch = (text: string): Search => {
  const wanted = text.trim().toLowerCase();
  if (wanted.startsWith("op_")) return { by: "id", id: wanted };
  if (TRANSACTION_HASH.test(wanted)) return { by: "hash", hash: wanted };
  return { by: "term", term: NAMES.test(wanted) ? wanted : tokenTerm(wanted) };
};

export interface OperationFilter extends CreatedBetween {
  /** Only operations with these ids. */
  readonly ids?: readonly string[] | undefined;
  readonly status?: readonly Status[] | undefined;
  readonly subStatus?: string | undefined;
  readonly kind?: readonly string[] | undefined;
  readonly chainId?: readonly number[] | undefined;
  readonly walletId?: readonly string[] | undefined;
  readonly q?: string | undefined;
  /** A complete tag, compared without case. */
  readonly tag?: string | undefined;
  readonly hidesPrivate?: boolean | undefined;
}
