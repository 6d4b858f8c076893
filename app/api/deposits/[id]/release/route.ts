import { releaseDeposit } from "@/lib/contracts/deposits";
import { ok, route } from "@/lib/http/route";
import { toDeposit } from "@/lib/modules/deposits/serializer";

export const POST = route({
  contract: releaseDeposit,
  handler: async ({ params, body, actor, services }) =>
    ok(toDeposit(await services.deposits.release(actor, params.id, body), services.registry)),
});
