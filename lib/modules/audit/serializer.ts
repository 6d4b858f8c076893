import { csvLine } from "@/lib/core/csv";
import type { auditRecord } from "@/lib/contracts/audit";
import type { z } from "zod";
import type { ChainedAuditEvent } from "./service";

type AuditRecord = z.output<typeof auditRecord>;

export const toAuditRecord = (row: ChainedAuditEvent): AuditRecord => ({
  id: row.id,
  action: row.action,
  actor: row.actor,
  subject: row.subject,
  data: { ...row.data },
  requestId: row.requestId,
  clientAddress: row.clientAddress,
  createdAt: row.createdAt.toISOString(),
  seq: row.seq,
  hash: row.hash === null ? null : Buffer.from(row.hash).toString("hex"),
});

const COLUMNS = [
  "id",
  "createdAt",
  "actor",
  "action",
  "subject",
  "data",
  "clientAddress",
  "requestId",
  "seq",
  "hash",
] as const satisfies readonly (keyof AuditRecord)[];

/** The audit log as CSV (RFC 4180); `data` is JSON in one cell. */
export const auditCsv = async function* (rows: AsyncIterable<ChainedAuditEvent>): AsyncGenerator<string> {
  yield csvLine(COLUMNS);
  for await (const row of rows) {
    const record = toAuditRecord(row);
    yield csvLine(COLUMNS.map((column) => (column === "data" ? JSON.stringify(record.data) : record[column])));
  }
};
