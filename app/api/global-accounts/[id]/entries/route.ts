import { listEntries } from "@/lib/contracts/global-accounts";
import { ok, route } from "@/lib/http/route";
import { toEntries } from "@/lib/books/global-accounts/serializer";

export const GET = route({
  contract: listEntries,
  handler: async ({ params, query, actor, services }) =>
    ok(toEntries(await services.globalAccounts.entries(actor.projectId, params.id, query))),
});
