import { listAuditLog } from "@/lib/contracts/audit";
import { ok, route } from "@/lib/http/route";
import { toAuditRecord } from "@/lib/modules/audit/serializer";

export const GET = route({
  contract: listAuditLog,
  handler: async ({ query, actor, services }) => {
    const { data, nextCursor } = await services.audit.list(actor, query);
    return ok({ data: data.map(toAuditRecord), nextCursor });
  },
});
