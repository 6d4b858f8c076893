import { approveOperation } from "@/lib/contracts/operations";
import { requiredCode } from "@/lib/contracts/proofs";
import { accepted, route } from "@/lib/http/route";
import { toOperation } from "@/lib/modules/operations/serializer";

export const POST = route({
  contract: approveOperation,
  handler: async ({ params, body, actor, services }) =>
    accepted(
      toOperation(
        (await services.privacy.approve(actor, params.id, requiredCode(body))) ??
          (await services.swaps.approve(actor, params.id, requiredCode(body))),
        services.registry,
      ),
    ),
});
