import { revokeApiKey } from "@/lib/contracts/api-keys";
import { ok, route } from "@/lib/http/route";
import { toRevokedApiKey } from "@/lib/modules/api-keys/serializer";

export const DELETE = route({
  contract: revokeApiKey,
  handler: async ({ params, actor, services }) => ok(toRevokedApiKey(await services.apiKeys.revoke(actor, params.id))),
});
