import { listAuditLog } from "@/lib/contracts/audit";
import { ok, route } from "@/lib/http/route";
import { toAuditPage } from "@/lib/news/audit/serializer";

export const GET = route({
  contract: listAuditLog,
  handler: async ({ query, actor, services }) =>
    ok(toAuditPage(await services.audit.list(actor, query))),
});
