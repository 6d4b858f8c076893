import { requestDecisionsCode } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toAskedSet } from "@/lib/trust/decisions/serializer";

export const POST = route({
  contract: requestDecisionsCode,
  handler: async ({ body: { ids, channel }, actor, services }) =>
    ok(toAskedSet(await services.decisions.requestSetCode(actor, ids, channel))),
});
