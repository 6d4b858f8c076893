import { getGlobalAccount } from "@/lib/contracts/global-accounts";
import { ok, route } from "@/lib/http/route";
import { toAccount } from "@/lib/modules/global-accounts/serializer";

export const GET = route({
  contract: getGlobalAccount,
  handler: async ({ params, actor, services }) =>
    ok(toAccount(await services.globalAccounts.get(actor.projectId, params.id))),
});
