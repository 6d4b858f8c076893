import { getExport } from "@/lib/contracts/exports";
import { ok, route } from "@/lib/http/route";
import { toExport } from "@/lib/money/exports/serializer";

export const GET = route({
  contract: getExport,
  handler: async ({ params, actor, services }) =>
    ok(toExport(await services.exports.get(actor, params.id))),
});
