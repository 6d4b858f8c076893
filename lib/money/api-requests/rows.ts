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

/** Table `api_request`: a request with an API key, and its response. */
export const apiRequests = table({
  projectId: text,
  /** Id of the request, as in the header `x-request-id`. */
  id: text,
  keyId: text,
  method: text,
  /** The route's path with parameter names: `/operations/{id}`. */
  path: text,
  status: int,
  /** Error code of the response; null for a success. */
  code: nullable(text),
  durationMs: float,
  clientAddress: nullable(text),
  /**
   * SHA-256 of the body as received. Null when the route has no body, or when the request was
   * rejected before its body was read.
   */
  bodySha256: nullable(bytes),
  at: time,
});

export type ApiRequest = RowOf<typeof apiRequests>;
