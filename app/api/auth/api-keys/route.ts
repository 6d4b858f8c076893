import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import { created, ok, route } from "@/lib/http/route";
import { toApiKeys, toCreatedApiKey } from "@/lib/trust/api-keys/serializer";

export const POST = route({
  contract: createApiKey,
  beforeReplay: ({ actor, services }) => services.apiKeys.checkMayManage(actor),
  handler: async ({ body, actor, services }) => {
    const made = await services.apiKeys.create(actor, body);
    const warnings = await services.recipients.warnings({
      projectId: actor.projectId,
      chainIds: [],
      recipients: body.recipients.map((address, index) => ({
        path: `recipients.${String(index)}`,
        address,
      })),
      purpose: "store",
    });
    return created({ ...toCreatedApiKey(made), warnings });
  },
});

export const GET = route({
  contract: listApiKeys,
  handler: async ({ query, actor, services }) =>
    ok(toApiKeys(await services.apiKeys.list(actor, query))),
});
