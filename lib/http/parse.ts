import type { z } from "zod";
import { DomainError, invalidRequest, notFound, type ErrorDetail } from "@/lib/core/errors";
import { BODY_BYTES_MAX, JSON_DEPTH_MAX, type Contract } from "@/lib/contracts/contract";
import { isJsonContentType } from "./content-type";
import { readWithin, type HttpInput } from "./input";
import { isDeeperThan } from "./json-depth";

const DETAILS_MAX = 200;
const ESCAPED_UNSTORABLE = /\\u(?:0000|d[89a-f])/i;
const UNSTORABLE = "has a character that cannot be stored (U+0000, or half of a surrogate pair)";

const detailOf = (issue: z.core.$ZodIssue): ErrorDetail[] => {
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({
      path: [...issue.path, key].join("."),
      message: "is not a field of this request",
    }));
  return [{ path: issue.path.map(String).join("."), message: issue.message, code: issue.code }];
};

/** Every invalid field, with dotted paths: `from.0.amount`. */
export const detailsOf = (error: z.ZodError): ErrorDetail[] =>
  error.issues.flatMap((issue) => detailOf(issue)).slice(0, DETAILS_MAX);

const describe = (details: readonly ErrorDetail[]): string => {
  const [first] = details;
  if (first === undefined) return "The request is not valid.";
  const more = details.length > 1 ? ` (and ${String(details.length - 1)} more)` : "";
  return `${first.path === "" ? "The body" : first.path}: ${first.message}${more}`;
};

const check = (schema: z.ZodType, value: unknown): unknown => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const details = detailsOf(parsed.error);
  throw invalidRequest(details, describe(details));
};

const isStorable = (text: string): boolean => !text.includes("\0") && !/\p{Surrogate}/u.test(text);

const unstorableIn = (value: unknown, path: readonly string[]): ErrorDetail[] => {
  if (typeof value === "string")
    return isStorable(value) ? [] : [{ path: path.join("."), message: UNSTORABLE, code: "invalid_text" }];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => [
    ...(isStorable(key) ? [] : [{ path: path.join("."), message: UNSTORABLE, code: "invalid_text" }]),
    ...unstorableIn(part, [...path, key]),
  ]);
};

/** PostgreSQL stores neither NUL nor half a surrogate pair; in JSON columns it may accept them and then fail to return them. */
const requireStorable = (value: unknown): unknown => {
  const details = unstorableIn(value, []).slice(0, DETAILS_MAX);
  if (details.length > 0) throw invalidRequest(details, describe(details));
  return value;
};

/** @throws DomainError `not_found` for path parameters that no object can have */
export const parseParams = (contract: Contract, params: Readonly<Record<string, string>>): unknown => {
  if (contract.params === undefined) return undefined;
  const parsed = contract.params.safeParse(params);
  if (!parsed.success) throw notFound();
  return parsed.data;
};

/** @throws DomainError `invalid_request` */
export const parseQuery = (contract: Contract, search: string): unknown => {
  if (contract.query === undefined) return undefined;
  const query = check(contract.query, Object.fromEntries(new URLSearchParams(search)));
  return search.includes("%00") ? requireStorable(query) : query;
};

/** The result of `read`, which throws where the body is not JSON. */
const asJson = <T>(read: () => T): T => {
  try {
    return read();
  } catch (cause) {
    const message = "The body is not valid JSON (UTF-8).";
    throw new DomainError("invalid_request", message, {
      details: [{ path: "", message, code: "invalid_json" }],
      cause,
    });
  }
};

const refuseDepth = (depthMax: number): DomainError => {
  const message = `The body nests deeper than ${String(depthMax)} levels.`;
  return new DomainError("invalid_request", message, { details: [{ path: "", message, code: "too_deep" }] });
};

const senderOf = (contract: Contract): "public" | "authenticated" =>
  contract.auth === "public" ? "public" : "authenticated";

/**
 * The body's bytes. Type and size come first, because their checks cost the same for every body.
 * @throws DomainError `unsupported_media_type`, `payload_too_large`
 */
export const readRawBody = async (contract: Contract, input: HttpInput): Promise<Uint8Array> => {
  if (!isJsonContentType(input.header("content-type") ?? ""))
    throw new DomainError("unsupported_media_type", "The body must be JSON: Content-Type: application/json.");
  return readWithin(input, contract.bodyLimit ?? BODY_BYTES_MAX[senderOf(contract)]);
};

/**
 * Parses and checks the body of a contract that has one, its depth before `JSON.parse`.
 * @throws DomainError `invalid_request`
 */
export const parseBody = (contract: Contract & { readonly body: z.ZodType }, raw: Uint8Array): unknown => {
  const text = asJson(() => new TextDecoder("utf-8", { fatal: true }).decode(raw));
  const depthMax = JSON_DEPTH_MAX[senderOf(contract)];
  if (isDeeperThan(text, depthMax)) throw refuseDepth(depthMax);
  const body = check(
    contract.body,
    asJson(() => JSON.parse(text) as unknown),
  );
  // In valid JSON of valid UTF-8 they can be written as escapes alone.
  return ESCAPED_UNSTORABLE.test(text) ? requireStorable(body) : body;
};
