import { revokeApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { ok, route } from "@/lib/http/route";
import { toApiKey, toRevokedApiKey } from "@/lib/trust/api-keys/serializer";

export const PATCH = route({
  contract: updateApiKey,
  handler: async ({ params, body, actor, services }) => {
    const key = await services.apiKeys.update(actor, params.id, body);
    const warnings = await services.recipients.warnings({
      projectId: actor.projectId,
      chainIds: [],
      recipients: (body.recipients ?? []).map((address, index) => ({
        path: `recipients.${String(index)}`,
        address,
      })),
      purpose: "store",
    });
    return ok({ ...toApiKey(key), warnings });
  },
});

export const DELETE = route({
  contract: revokeApiKey,
  handler: async ({ params, actor, services }) =>
    ok(toRevokedApiKey(await services.apiKeys.revoke(actor, params.id))),
});
