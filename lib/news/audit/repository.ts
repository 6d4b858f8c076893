import { inOrder } from "@/lib/platform/db/in-order";
import type { Sql, SqlReader } from "@/lib/platform/db/sql";
import { type AuditColumns, type AuditData, type AuditEvent, parseAuditEvent } from "./rules";
import { z } from "zod";
import { operationTitle } from "@/lib/core/titles";
import { storedBase } from "@/lib/platform/db/codecs";

const INSERT = `
  INSERT INTO audit_event (id, project_id, actor, action, subject, data, request_id, client_address, created_at)
  VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9::timestamptz)`;
const INSERT_UNLINKED = "INSERT INTO audit_unlinked (event_id) VALUES ($1)";

/** Stores a row and queues it for linking. */
export const insertAuditEvent = async (sql: Sql, row: AuditEvent): Promise<void> => {
  const values = [
    row.id,
    row.projectId,
    row.actor,
    row.action,
    row.subject,
    JSON.stringify(row.data),
    row.requestId,
    row.clientAddress,
    row.createdAt.toISOString(),
  ];
  await inOrder(sql, [
    () => sql.change(INSERT, values),
    () => sql.change(INSERT_UNLINKED, [row.id]),
  ]);
};

const HAS = `
  SELECT 1 FROM audit_event
  WHERE project_id = $1 AND subject = $2 AND action = $3 AND actor = $4 AND data @> $5::jsonb LIMIT 1`;

/** Whether there is a row of this action whose data contains at least these fields. */
export const hasAuditEvent = async (
  sql: SqlReader,
  row: Pick<AuditEvent, "actor" | "action"> & {
    readonly projectId: string;
    readonly subject: string;
    readonly data?: AuditData;
  },
): Promise<boolean> => {
  const { projectId, subject, action, actor, data = {} } = row;
  const rows = await sql.query<object>(HAS, [
    projectId,
    subject,
    action,
    actor,
    JSON.stringify(data),
  ]);
  return rows.length > 0;
};

interface AuditQuery {
  readonly projectId: string;
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** RFC 3339. */
  readonly from?: string | undefined;
  /** RFC 3339; exclusive. */
  readonly to?: string | undefined;
  /**
   * Text that the action, actor, subject, address, request id or data contains; case does not
   * matter.
   */
  readonly text?: string | undefined;
  /** Only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A row with its place in the project's chain. Both fields are null until it is linked. */
export interface ChainedAuditEvent extends AuditEvent {
  readonly seq: number | null;
  readonly hash: Uint8Array | null;
}

interface ChainedColumns extends AuditColumns {
  readonly seq: string | null;
  readonly hash: Uint8Array | null;
}

const TEXT_FIELDS =
  "concat_ws(' ', action, actor, subject, client_address, request_id, data::text) ILIKE";

/** A LIKE pattern that finds exactly this text anywhere, with special characters escaped. */
const patternOf = (text: string): string =>
  `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;

/** Newest first. */
export const listAuditEvents = async (
  sql: SqlReader,
  query: AuditQuery,
): Promise<readonly ChainedAuditEvent[]> => {
  const values: unknown[] = [query.projectId];
  const filters = [
    ["subject =", query.subject],
    ["action =", query.action],
    ["actor =", query.actor],
    ["created_at >=", query.from],
    ["created_at <", query.to],
    [TEXT_FIELDS, query.text === undefined ? undefined : patternOf(query.text)],
    ["id <", query.before],
  ] as const;
  const where = ["project_id = $1"];
  for (const [comparison, value] of filters) {
    if (value === undefined) continue;
    values.push(value);
    where.push(`${comparison} $${String(values.length)}`);
  }
  values.push(query.limit);
  const rows = await sql.query<ChainedColumns>(
    `SELECT id, project_id AS "projectId", actor, action, subject, data, request_id AS "requestId",
       client_address AS "clientAddress", created_at AS "createdAt", seq, hash
     FROM (SELECT * FROM audit_event WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT $${String(values.length)}::int) event
     LEFT JOIN audit_link ON audit_link.event_id = event.id ORDER BY id DESC`,
    values,
  );
  return rows.map(({ seq, hash, ...row }) => ({
    ...parseAuditEvent(row),
    seq: seq === null ? null : Number(seq),
    hash,
  }));
};

const ACCOUNT_PREFIX = "ga_";

/**
 * Each table has the names of its objects in one column; for movements of money the request is
 * used. $1: the project, $2: ids, $3: UUIDs of accounts.
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
  /** The kind of an operation, quote or payout, or `schedule`. */
  readonly kind: string | null;
  /** JSON; set for operations and quotes. */
  readonly sources: unknown;
  /** Set for payouts and schedules. */
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
  // An operation whose request has an unknown form is named only by its kind.
  return operationTitle({ kind, sources: storedSources.safeParse(sources).data ?? [] });
};

/**
 * The names that people gave to the objects in a page of entries, and the titles of operations, by
 * id, read with one statement. Objects without a name are missing.
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
