/** A request that was made with an API key, and how it was answered. */
export interface ApiRequest {
  readonly projectId: string;
  /** Id of the request, as in the header `x-request-id`. */
  readonly id: string;
  readonly keyId: string;
  readonly method: string;
  /** The route's path with its parameters' names: `/operations/{id}`. */
  readonly path: string;
  readonly status: number;
  /** Code of the error that was answered; null for a success. */
  readonly code: string | null;
  readonly durationMs: number;
  readonly clientAddress: string | null;
  /** SHA-256 of the body's bytes as they came; null where the route takes none, or the request was refused before its body was read. */
  readonly bodySha256: Uint8Array | null;
  readonly at: Date;
}
