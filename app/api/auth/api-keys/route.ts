import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import { created, ok, route } from "@/lib/http/route";
import { toApiKeys, toCreatedApiKey } from "@/lib/modules/api-keys/serializer";

export const POST = route({
  contract: createApiKey,
  beforeReplay: ({ actor, services }) => services.apiKeys.checkMayManage(actor),
  handler: async ({ body, actor, services }) => created(toCreatedApiKey(await services.apiKeys.create(actor, body))),
});

export const GET = route({
  contract: listApiKeys,
  handler: async ({ actor, services }) => ok(toApiKeys(await services.apiKeys.list(actor))),
});
