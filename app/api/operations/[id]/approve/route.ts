import { approveOperation } from "@/lib/contracts/operations";
import { accepted, route } from "@/lib/http/route";
import { toOperation } from "@/lib/modules/operations/serializer";

export const POST = route({
  contract: approveOperation,
  handler: async ({ params, body, actor, services }) =>
    accepted(
      toOperation(
        (await services.privacy.approve(actor, params.id, body.otp)) ??
          (await services.swaps.approve(actor, params.id, body.otp)),
        services.registry,
      ),
    ),
});
