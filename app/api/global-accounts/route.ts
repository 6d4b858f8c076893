import { createGlobalAccount, listGlobalAccounts } from "@/lib/contracts/global-accounts";
import { created, ok, route } from "@/lib/http/route";
import { toAccount, toAccounts } from "@/lib/books/global-accounts/serializer";

export const GET = route({
  contract: listGlobalAccounts,
  handler: async ({ query, actor, services }) =>
    ok(toAccounts(await services.globalAccounts.list(actor.projectId, query))),
});

export const POST = route({
  contract: createGlobalAccount,
  handler: async ({ body, actor, services, idempotencyKey }) =>
    created(
      toAccount(await services.globalAccounts.open(actor, { ...body, key: idempotencyKey })),
    ),
});
