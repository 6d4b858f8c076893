import { getPrivateTransfer } from "@/lib/contracts/privacy";
import { ok, route } from "@/lib/http/route";
import { toPrivateTransfer } from "@/lib/money/privacy/serializer";

export const GET = route({
  contract: getPrivateTransfer,
  handler: async ({ params, actor, services }) =>
    ok(toPrivateTransfer(await services.privacy.get(actor.projectId, params.id), services)),
});
