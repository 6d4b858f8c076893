import { z } from "zod";
import { operationTitle } from "@/lib/core/operation-title";
import type { SqlReader } from "@/lib/db/sql";
import { storedBase } from "@/lib/ports/routing-json";

const ACCOUNT_PREFIX = "ga_";

/**
 * Each table has its rows' names in one column; of movements of money the request says what they move. $1: the project, $2: ids, $3: UUIDs of
 * accounts.
 */
const READ = `
  SELECT id, name, kind, sources, rows FROM (
    SELECT id, coalesce(CASE WHEN email_verified_at IS NOT NULL THEN email END, address) AS name, NULL AS kind, NULL::jsonb AS sources, NULL::int AS rows
      FROM app_user WHERE id = ANY($2::text[])
    UNION ALL SELECT id, name, NULL, NULL, NULL FROM project WHERE id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, email, NULL, NULL, NULL FROM invitation WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, name, NULL, NULL, NULL FROM api_key WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, coalesce(label, address), NULL, NULL, NULL FROM wallet WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, name, NULL, NULL, NULL FROM contact WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT '${ACCOUNT_PREFIX}' || id, name, NULL, NULL, NULL FROM ledger_account WHERE project_id = $1 AND id = ANY($3::uuid[])
    UNION ALL SELECT id, coalesce(nullif(description, ''), url), NULL, NULL, NULL FROM webhook_endpoint WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, name, NULL, NULL, NULL FROM privacy_wallet WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, title, NULL, NULL, NULL FROM decision_request WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, reference, kind, NULL, items_total FROM payout WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, reference, 'schedule', NULL, rows FROM payout_schedule WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, NULL, kind, request->'sources', NULL FROM operation WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT id, NULL, kind, request->'sources', NULL FROM quote WHERE project_id = $1 AND id = ANY($2::text[])
    UNION ALL SELECT transfer_id, NULL, kind, request->'sources', NULL FROM quote WHERE project_id = $1 AND transfer_id = ANY($2::text[])
    UNION ALL SELECT t.id, NULL, o.kind, o.request->'sources', NULL
      FROM privacy_transfer t JOIN operation o ON o.project_id = t.project_id AND o.id = t.operation_id
      WHERE t.project_id = $1 AND t.id = ANY($2::text[])
    UNION ALL SELECT id, NULL, 'private_swap', jsonb_build_array(jsonb_build_object('token', token, 'amountBase', amount_base::text)), NULL
      FROM privacy_quote WHERE project_id = $1 AND id = ANY($2::text[])
  ) AS named`;

interface NamedRow {
  readonly id: string;
  readonly name: string | null;
  /** Of an operation, quote or payout, or `schedule`. */
  readonly kind: string | null;
  /** JSON, of operations and quotes. */
  readonly sources: unknown;
  /** Of payouts and schedules. */
  readonly rows: number | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const storedSources = z.array(
  z.object({
    token: z.object({ assetId: z.string(), symbol: z.string(), decimals: z.int() }),
    amountBase: storedBase,
  }),
);

/** `Payout to 3 wallets`, for payouts and schedules without a reference. */
const payoutName = (kind: string, rows: number): string => {
  const word = kind === "schedule" ? "Scheduled payout" : "Payout";
  return `${word} to ${String(rows)} ${kind === "global_accounts" ? "account" : "wallet"}${rows === 1 ? "" : "s"}`;
};

const nameOf = ({ name, kind, sources, rows }: NamedRow): string | null => {
  if (name !== null || kind === null) return name;
  if (rows !== null) return payoutName(kind, rows);
  // A request that another version stored in another shape is called by its kind alone.
  return operationTitle({ kind, sources: storedSources.safeParse(sources).data ?? [] });
};

/**
 * The names that people gave to the objects of a page of entries, and the titles of operations, by id; one statement for the page. Objects without a
 * name are left out.
 */
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
  const rows = await sql.query<NamedRow>(READ, [projectId, ids, accounts]);
  return new Map(
    rows.flatMap((row): [string, string][] => {
      const name = nameOf(row);
      return name === null ? [] : [[row.id, name]];
    }),
  );
};
