import { requestDecisionCode } from "@/lib/contracts/decisions";
import { ok, route } from "@/lib/http/route";
import { toOtpSent } from "@/lib/trust/proofs/serializer";

export const POST = route({
  contract: requestDecisionCode,
  handler: async ({ params, query, actor, services }) =>
    ok(toOtpSent(await services.decisions.requestCode(actor, params.id, query.channel))),
});
