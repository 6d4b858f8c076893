import type { Sql, SqlReader } from "@/lib/db/sql";
import type { StatementPart } from "@/lib/db/together";
import { parseAuditEvent, type AuditColumns, type AuditEvent } from "./audit-event";

const INSERT = `
  INSERT INTO audit_event (id, project_id, actor, action, subject, data, request_id, client_address, created_at)
  VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9::timestamptz)`;

export const auditPart = (row: AuditEvent): StatementPart => {
  const { id, projectId, actor, action, subject, data, requestId, clientAddress, createdAt } = row;
  const time = createdAt.toISOString();
  const values = [id, projectId, actor, action, subject, JSON.stringify(data), requestId, clientAddress, time];
  return { text: INSERT, values };
};

export const insertAuditEvent = async (sql: Sql, row: AuditEvent): Promise<void> => {
  const { text, values } = auditPart(row);
  await sql.change(text, values);
};

export interface AuditQuery {
  readonly projectId: string;
  readonly subject?: string | undefined;
  readonly action?: string | undefined;
  /** Only rows with a smaller id. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Newest first. */
export const listAuditEvents = async (sql: SqlReader, query: AuditQuery): Promise<readonly AuditEvent[]> => {
  const values: unknown[] = [query.projectId];
  const filters = [
    ["subject =", query.subject],
    ["action =", query.action],
    ["id <", query.before],
  ] as const;
  const where = ["project_id = $1"];
  for (const [comparison, value] of filters) {
    if (value === undefined) continue;
    values.push(value);
    where.push(`${comparison} $${String(values.length)}`);
  }
  values.push(query.limit);
  const rows = await sql.query<AuditColumns>(
    `SELECT id, project_id AS "projectId", actor, action, subject, data, request_id AS "requestId",
       client_address AS "clientAddress", created_at AS "createdAt"
     FROM audit_event WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT $${String(values.length)}::int`,
    values,
  );
  return rows.map(parseAuditEvent);
};
