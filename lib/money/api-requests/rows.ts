import {
  int,
  nullable,
  type RowOf,
  table,
  text,
  time,
  float,
  bytes,
} from "@/lib/platform/db/table";

// The table of this module.

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
