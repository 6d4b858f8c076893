import { getDeposit } from "@/lib/contracts/deposits";
import { ok, route } from "@/lib/http/route";
import { toDeposit } from "@/lib/money/deposits/serializer";

export const GET = route({
  contract: getDeposit,
  handler: async ({ params, actor, services }) =>
    ok(toDeposit(await services.deposits.get(actor, params.id), services.registry)),
});
