import { preparePrivateSwap } from "@/lib/contracts/privacy-swap";
import { givenCode } from "@/lib/contracts/proofs";
import { ok, route } from "@/lib/http/route";
import { toPreparedSwap } from "@/lib/money/privacy/serializer";

export const POST = route({
  contract: preparePrivateSwap,
  handler: async ({ body, actor, services }) =>
    ok(
      toPreparedSwap(
        await services.privacy.prepareSwap(actor, { ...body, code: givenCode(body) }),
      ),
    ),
});
