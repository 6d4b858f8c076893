import { type Column, int, nullable, type RowOf, table, text, time } from "@/lib/platform/db/table";

// The table of this module.

const float: Column<number> = { ...int, type: "float8" };

/** BYTEA, which a JSON row contains as hexadecimal text. */
const bytes: Column<Uint8Array> = {
  type: "bytea",
  select: (name) => name,
  read: (stored) => stored as Uint8Array,
  write: (value) => `\\x${Buffer.from(value).toString("hex")}`,
};

/** Table `api_request`: a request with an API key, and its answer. */
export const apiRequests = table({
  projectId: text,
  /** Id of the request, as in the header `x-request-id`. */
  id: text,
  keyId: text,
  method: text,
  /** The route's path with its parameters' names: `/operations/{id}`. */
  path: text,
  status: int,
  /** Error code of the answer; null for a success. */
  code: nullable(text),
  durationMs: float,
  clientAddress: nullable(text),
  /**
   * SHA-256 of the body's bytes as received. Null when the route has no body, or the request was
   * refused before its body was read.
   */
  bodySha256: nullable(bytes),
  at: time,
});

export type ApiRequest = RowOf<typeof apiRequests>;
