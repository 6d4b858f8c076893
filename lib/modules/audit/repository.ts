import type { Sql, SqlReader } from "@/lib/db/sql";
import { changeTogether, type StatementPart } from "@/lib/db/together";
import { parseAuditEvent, type AuditColumns, type AuditEvent } from "./audit-event";

const INSERT = `
  INSERT INTO audit_event (id, project_id, actor, action, subject, data, request_id, client_address, created_at)
  VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9::timestamptz)`;
const INSERT_UNLINKED = "INSERT INTO audit_unlinked (event_id) VALUES ($1)";

/** Stores a row, and lets it wait for its link. */
export const auditParts = (row: AuditEvent): readonly StatementPart[] => {
  const { id, projectId, actor, action, subject, data, requestId, clientAddress, createdAt } = row;
  const time = createdAt.toISOString();
  const values = [id, projectId, actor, action, subject, JSON.stringify(data), requestId, clientAddress, time];
  return [
    { text: INSERT, values },
    { text: INSERT_UNLINKED, values: [id] },
  ];
};

export const insertAuditEvent = async (sql: Sql, row: AuditEvent): Promise<void> => {
  await changeTogether(sql, auditParts(row));
};

export interface AuditQuery {
  readonly projectId: string;
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  /** RFC 3339. */
  readonly from?: string | undefined;
  /** RFC 3339; exclusive. */
  readonly to?: string | undefined;
  /** Text that the action, actor, subject, address, request id or data contains; case does not matter. */
  readonly text?: string | undefined;
  /** Only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** A row with its place in the project's chain; both are null for the moment until it is linked. */
export interface ChainedAuditEvent extends AuditEvent {
  readonly seq: number | null;
  readonly hash: Uint8Array | null;
}

interface ChainedColumns extends AuditColumns {
  readonly seq: string | null;
  readonly hash: Uint8Array | null;
}

const TEXT_FIELDS = "concat_ws(' ', action, actor, subject, client_address, request_id, data::text) ILIKE";

/** A LIKE pattern that finds exactly this text anywhere: its special characters are escaped. */
const patternOf = (text: string): string => `%${text.replace(/[\\%_]/g, (character) => `\\${character}`)}%`;

/** Newest first. */
export const listAuditEvents = async (sql: SqlReader, query: AuditQuery): Promise<readonly ChainedAuditEvent[]> => {
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
