import { cancelTransfer } from "@/lib/contracts/transfers";
import { ok, route } from "@/lib/http/route";
import { toTransfer } from "@/lib/money/transfers/serializer";

export const POST = route({
  contract: cancelTransfer,
  handler: async ({ params, actor, services }) =>
    ok(toTransfer(await services.transfers.cancel(actor, params.id), services.registry)),
});
