import { getGlobalAccount, updateGlobalAccount } from "@/lib/contracts/global-accounts";
import { ok, route } from "@/lib/http/route";
import { toAccount } from "@/lib/books/global-accounts/serializer";

export const GET = route({
  contract: getGlobalAccount,
  handler: async ({ params, actor, services }) =>
    ok(toAccount(await services.globalAccounts.get(actor.projectId, params.id))),
});

export const PATCH = route({
  contract: updateGlobalAccount,
  handler: async ({ params, body, actor, services }) =>
    ok(toAccount(await services.accountChanges.rename(actor, params.id, body.name))),
});
