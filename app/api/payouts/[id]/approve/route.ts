import { approvePayout } from "@/lib/contracts/payouts";
import { requiredCode } from "@/lib/contracts/proofs";
import { accepted, route } from "@/lib/http/route";
import { toPayout } from "@/lib/modules/payouts/serializer";

export const POST = route({
  contract: approvePayout,
  handler: async ({ params, body, actor, services }) =>
    accepted(toPayout(await services.payouts.approve(actor, params.id, requiredCode(body)))),
});
