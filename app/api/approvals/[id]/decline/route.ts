import { declineDecision } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toDecision } from "@/lib/modules/decisions/serializer";

export const POST = route({
  contract: declineDecision,
  handler: async ({ params, body, actor, services }) =>
    ok(toDecision(await services.decisions.decide(actor, params.id, { ...body, decision: "decline" }))),
});
