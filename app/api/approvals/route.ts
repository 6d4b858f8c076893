import { listDecisions } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toDecisions } from "@/lib/trust/decisions/serializer";

export const GET = route({
  contract: listDecisions,
  handler: async ({ query, actor, services }) =>
    ok(toDecisions(await services.decisions.list(actor, query))),
});
