import type { RouteRequest } from "@/lib/ports/routing";

const TRANSACTION_HASH = /^0x[0-9a-f]{64}$/;
const NAMES = /^(0x[0-9a-f]{40}|(tr|qt|wal)_.*)$/;

export const chainTerm = (chainId: number): string => `chain:${String(chainId)}`;
const tokenTerm = (symbol: string): string => `token:${symbol.toLowerCase()}`;

/** The distinct terms by which the activity list finds an operation, in lower case. `ids` are those of its origin. */
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

/** A search, classified by the form of its text. */
export type Search =
  | { readonly by: "id"; readonly id: string }
  | { readonly by: "hash"; readonly hash: string }
  | { readonly by: "term"; readonly term: string };

/** An operation's id, a transaction's hash, an address or the id of a transfer, quote or wallet; anything else is a token's symbol. */
export const readSearch = (text: string): Search => {
  const wanted = text.trim().toLowerCase();
  if (wanted.startsWith("op_")) return { by: "id", id: wanted };
  if (TRANSACTION_HASH.test(wanted)) return { by: "hash", hash: wanted };
  return { by: "term", term: NAMES.test(wanted) ? wanted : tokenTerm(wanted) };
};
