import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { join, sql } from "@/lib/platform/db/statement";
import { type ApiRequest, apiRequests } from "./rows";

/**
 * Stores all requests with one statement. Requests that are stored already are left unchanged, so
 * a batch can be written again after an error.
 */
export const insertApiRequests = async (
  db: Sql,
  requests: readonly ApiRequest[],
): Promise<void> => {
  await db.change(sql`
    INSERT INTO api_request (${apiRequests.names})
    SELECT ${apiRequests.names} FROM ${apiRequests.list(requests)} AS answered
    ON CONFLICT DO NOTHING`);
};

export interface ApiRequestQuery {
  readonly projectId: string;
  readonly keyId: string;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  /** Both bounds are inclusive. */
  readonly statuses?: readonly [least: number, most: number] | undefined;
  /** RFC 3339, inclusive. */
  readonly from?: string | undefined;
  /** RFC 3339, exclusive. */
  readonly to?: string | undefined;
  /** The page cursor: only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The logged requests of an API key, newest first. */
export const listApiRequests = (
  db: SqlReader,
  { projectId, keyId, method, path, statuses, from, to, before, limit }: ApiRequestQuery,
): Promise<readonly ApiRequest[]> => {
  const conditions = [
    sql`r.project_id = ${projectId}`,
    sql`r.key_id = ${keyId}`,
    ...(method === undefined ? [] : [sql`r.method = ${method}`]),
    ...(path === undefined ? [] : [sql`r.path = ${path}`]),
    ...(statuses === undefined
      ? []
      : [sql`r.status BETWEEN ${statuses[0]}::int AND ${statuses[1]}::int`]),
    ...(from === undefined ? [] : [sql`r.at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [sql`r.at < ${to}::timestamptz`]),
    ...(before === undefined ? [] : [sql`r.id < ${before}`]),
  ];
  return apiRequests.all(
    db,
    sql`
      SELECT ${apiRequests.columns("r")} FROM api_request r
      WHERE ${join(conditions, " AND ")}
      ORDER BY r.id DESC
      LIMIT ${limit}::int`,
  );
};
