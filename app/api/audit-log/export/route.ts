import { exportAuditLog } from "@/lib/contracts/audit";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { auditCsv } from "@/lib/news/audit/serializer";

export const GET = route({
  contract: exportAuditLog,
  handler: ({ query, actor, services }) =>
    csvDownload("audit-log.csv", auditCsv(services.audit.allFor(actor, query))),
});
