import { getTransfer } from "@/lib/contracts/transfers";
import { ok, route } from "@/lib/http/route";
import { toTransfer } from "@/lib/money/transfers/serializer";

export const GET = route({
  contract: getTransfer,
  handler: async ({ params, actor, services }) =>
    ok(toTransfer(await services.transfers.get(actor.projectId, params.id), services.registry)),
});
