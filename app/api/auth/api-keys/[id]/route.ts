import { revokeApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { ok, route } from "@/lib/http/route";
import { toApiKey, toRevokedApiKey } from "@/lib/modules/api-keys/serializer";

export const PATCH = route({
  contract: updateApiKey,
  handler: async ({ params, body, actor, services }) =>
    ok(toApiKey(await services.apiKeys.update(actor, params.id, body))),
});

export const DELETE = route({
  contract: revokeApiKey,
  handler: async ({ params, actor, services }) => ok(toRevokedApiKey(await services.apiKeys.revoke(actor, params.id))),
});
