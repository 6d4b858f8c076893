import type { SqlReader } from "@/lib/db/sql";

const ACCOUNT_PREFIX = "ga_";

/** Each table has its rows' names in one column. $1: the project, $2: ids, $3: UUIDs of accounts. */
const READ = `
  SELECT id, name FROM (
    SELECT id, coalesce(CASE WHEN email_verified_at IS NOT NULL THEN email END, address) AS name
      FROM app_user WHERE id = ANY($2::text[])
    UNION ALL SELECT id, name FROM project WHERE id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, email FROM invitation WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, name FROM api_key WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, coalesce(label, address) FROM wallet WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, name FROM contact WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT '${ACCOUNT_PREFIX}' || id, name FROM ledger_account WHERE project_id = $1 AND id = ANY($3::uuid[])
    UNION ALL SELECT id, reference FROM payout WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, reference FROM payout_schedule WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, url FROM webhook_endpoint WHERE project_id = $1 AND id = ANY($2::text[])
  ) AS named WHERE name IS NOT NULL`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The names that people gave to the objects of a page of entries, by id; one statement for the page. Objects without a name are left out. */
export const namesOf = async (
  sql: SqlReader,
  projectId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  if (ids.length === 0) return new Map();
  const accounts = ids.flatMap((id) => {
    const uuid = id.slice(ACCOUNT_PREFIX.length);
    return id.startsWith(ACCOUNT_PREFIX) && UUID.test(uuid) ? [uuid] : [];
  });
  const rows = await sql.query<{ readonly id: string; readonly name: string }>(READ, [projectId, ids, accounts]);
  return new Map(rows.map(({ id, name }) => [id, name]));
};
