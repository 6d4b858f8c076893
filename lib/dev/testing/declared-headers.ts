/** Compares the headers of answers with those that the OpenAPI document names. */
import type { Contract } from "@/lib/contracts/contract";
import { errorCodesByStatus } from "@/lib/http/openapi-errors";
import { errorHeaders, NOT_MODIFIED_HEADERS, successHeaders } from "@/lib/http/openapi-schemas";

const NOT_MODIFIED = 304;
const FIRST_ERROR = 400;

/**
 * Headers, in lower case, that the document need not name. They are for browsers and connections,
 * not for callers.
 */
const UNNAMED: ReadonlySet<string> = new Set([
  // The document describes this header by the media type of the answer.
  "content-type",
  "content-security-policy",
  "referrer-policy",
  "strict-transport-security",
  "x-accel-buffering",
  "x-content-type-options",
  "connection",
  "content-encoding",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
  "vary",
]);

/** @returns the names in `sent` that are not in `declared`, ignoring case */
export const headersBeyond = (declared: object, sent: Iterable<string>): string[] => {
  const known = new Set(Object.keys(declared).map((name) => name.toLowerCase()));
  return [...sent]
    .map((name) => name.toLowerCase())
    .filter((name) => !known.has(name) && !UNNAMED.has(name));
};

const declaredHeaders = (contract: Contract, status: number): object => {
  if (status === NOT_MODIFIED) return NOT_MODIFIED_HEADERS;
  if (status < FIRST_ERROR) return successHeaders(contract);
  return errorHeaders(status, errorCodesByStatus(contract).get(status) ?? []);
};

/**
 * Names a header of the answer that the document does not list for the answer's operation and
 * status; null when there is none.
 */
export const undeclaredHeader = (
  contract: Contract,
  { status, headers }: Response,
): string | null => {
  const beyond = headersBeyond(declaredHeaders(contract, status), headers.keys());
  return beyond.length === 0
    ? null
    : `${contract.method} ${contract.path} answered ${String(status)} with ${beyond.join(", ")}, which the document does not name.`;
};
