import { rotateApiKey } from "@/lib/contracts/api-keys";
import { ok, route } from "@/lib/http/route";
import { toCreatedApiKey } from "@/lib/trust/api-keys/serializer";

export const POST = route({
  contract: rotateApiKey,
  handler: async ({ params, body, actor, services }) =>
    ok(toCreatedApiKey(await services.apiKeys.rotate(actor, params.id, body))),
});
