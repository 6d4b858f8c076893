import type { auditRecord } from "@/lib/contracts/audit";
import type { z } from "zod";
import type { AuditEvent } from "./service";

export const toAuditRecord = (row: AuditEvent): z.output<typeof auditRecord> => ({
  id: row.id,
  action: row.action,
  actor: row.actor,
  subject: row.subject,
  data: { ...row.data },
  requestId: row.requestId,
  clientAddress: row.clientAddress,
  createdAt: row.createdAt.toISOString(),
});
