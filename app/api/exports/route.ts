import { createExport, listExports } from "@/lib/contracts/exports";
import { created, ok, route } from "@/lib/http/route";
import { toExport, toExports } from "@/lib/money/exports/serializer";

export const GET = route({
  contract: listExports,
  handler: async ({ query, actor, services }) =>
    ok(toExports(await services.exports.list(actor, query))),
});

export const POST = route({
  contract: createExport,
  handler: async ({ body, actor, services }) =>
    created(toExport(await services.exports.create(actor, body))),
});
