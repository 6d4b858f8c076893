import { csvLine, type CsvText } from "@/lib/core/csv";
import type { auditRecord, listAuditLog } from "@/lib/contracts/audit";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { z } from "zod";
import type { AuditPage, ChainedAuditEvent } from "./service";

type AuditRecord = z.output<typeof auditRecord>;

type Names = AuditPage["names"];
const NO_NAMES: Names = new Map();

const toAuditRecord = (row: ChainedAuditEvent, names: Names): AuditRecord => ({
  id: row.id,
  action: row.action,
  actor: row.actor,
  actorName: names.get(row.actor) ?? null,
  subject: row.subject,
  subjectName: (row.subject === null ? undefined : names.get(row.subject)) ?? null,
  data: { ...row.data },
  requestId: row.requestId,
  clientAddress: row.clientAddress,
  createdAt: row.createdAt.toISOString(),
  seq: row.seq,
  hash: row.hash === null ? null : Buffer.from(row.hash).toString("hex"),
});

export const toAuditPage = ({
  data,
  names,
  nextCursor,
}: AuditPage): ResponseOf<typeof listAuditLog> => ({
  data: data.map((row) => toAuditRecord(row, names)),
  nextCursor,
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

/** CSV (RFC 4180); `data` is JSON in one cell. */
export const auditCsv = async function* (
  rows: AsyncIterable<ChainedAuditEvent>,
): AsyncGenerator<CsvText> {
  yield csvLine(COLUMNS);
  for await (const row of rows) {
    const record = toAuditRecord(row, NO_NAMES);
    yield csvLine(
      COLUMNS.map((column) =>
        column === "data" ? JSON.stringify(record.data) : record[column],
      ),
    );
  }
};
