import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { ok, route } from "@/lib/http/route";
import { toPayout } from "@/lib/modules/payouts/serializer";

export const POST = route({
  contract: decidePayoutDoubt,
  handler: async ({ params, body, actor, services }) => {
    const { batch, ...decision } = body;
    return ok(toPayout(await services.payouts.decideDoubt(actor, { id: params.id, batch }, decision)));
  },
});
