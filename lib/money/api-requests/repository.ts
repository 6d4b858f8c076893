import type { Sql, SqlReader } from "@/lib/platform/db/sql";

/** A request with an API key, and its answer. */
export interface ApiRequest {
  readonly projectId: string;
  /** Id of the request, as in the header `x-request-id`. */
  readonly id: string;
  readonly keyId: string;
  readonly method: string;
  /** The route's path with its parameters' names: `/operations/{id}`. */
  readonly path: string;
  readonly status: number;
  /** Error code of the answer; null for a success. */
  readonly code: string | null;
  readonly durationMs: number;
  readonly clientAddress: string | null;
  /**
   * SHA-256 of the body's bytes as received. Null when the route has no body, or the request was
   * refused before its body was read.
   */
  readonly bodySha256: Uint8Array | null;
  readonly at: Date;
}

const INSERT = `
  INSERT INTO api_request (project_id, id, key_id, method, path, status, code, duration_ms, client_address, body_sha256, at)
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[], $8::float8[], $9::text[],
    $10::bytea[], $11::timestamptz[])
  ON CONFLICT DO NOTHING`;

/**
 * One statement for all requests. A request that is stored already is unchanged, so a batch can be
 * sent again.
 */
export const insertApiRequests = async (
  sql: Sql,
  requests: readonly ApiRequest[],
): Promise<void> => {
  const column = <T>(of: (request: ApiRequest) => T): T[] => requests.map(of);
  await sql.change(INSERT, [
    column(({ projectId }) => projectId),
    column(({ id }) => id),
    column(({ keyId }) => keyId),
    column(({ method }) => method),
    column(({ path }) => path),
    column(({ status }) => status),
    column(({ code }) => code),
    column(({ durationMs }) => durationMs),
    column(({ clientAddress }) => clientAddress),
    column(({ bodySha256 }) => (bodySha256 === null ? null : Buffer.from(bodySha256))),
    column(({ at }) => at.toISOString()),
  ]);
};

export interface ApiRequestQuery {
  readonly projectId: string;
  readonly keyId: string;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** Bounds of the status, both inclusive. */
  readonly statuses?: readonly [least: number, most: number] | undefined;
  /** RFC 3339. */
  readonly from?: string | undefined;
  /** RFC 3339; exclusive. */
  readonly to?: string | undefined;
  /** Only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

const LIST = `
  SELECT project_id AS "projectId", id, key_id AS "keyId", method, path, status, code, duration_ms AS "durationMs",
    client_address AS "clientAddress", body_sha256 AS "bodySha256", at
  FROM api_request
  WHERE project_id = $1 AND key_id = $2 AND ($3::text IS NULL OR method = $3) AND ($4::text IS NULL OR path = $4)
    AND ($5::int IS NULL OR status BETWEEN $5 AND $6::int) AND ($7::timestamptz IS NULL OR at >= $7)
    AND ($8::timestamptz IS NULL OR at < $8) AND ($9::text IS NULL OR id < $9)
  ORDER BY id DESC LIMIT $10::int`;

/** Newest first. */
export const listApiRequests = (
  sql: SqlReader,
  query: ApiRequestQuery,
): Promise<readonly ApiRequest[]> => {
  const { projectId, keyId, method = null, path = null, statuses = [null, null] } = query;
  const { from = null, to = null, before = null, limit } = query;
  return sql.query<ApiRequest>(LIST, [
    projectId,
    keyId,
    method,
    path,
    ...statuses,
    from,
    to,
    before,
    limit,
  ]);
};
