import { getDecision } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toDecision } from "@/lib/trust/decisions/serializer";

export const GET = route({
  contract: getDecision,
  handler: async ({ params, actor, services }) =>
    ok(toDecision(await services.decisions.get(actor, params.id))),
});
