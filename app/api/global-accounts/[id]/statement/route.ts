import { getStatement } from "@/lib/contracts/global-accounts";
import { ok, route } from "@/lib/http/route";
import { toStatement } from "@/lib/books/global-accounts/serializer";

export const GET = route({
  contract: getStatement,
  handler: async ({ params, query, actor, services: { globalAccounts } }) => {
    const statement = await globalAccounts.statement(actor.projectId, params.id, query);
    return ok(toStatement(statement, await globalAccounts.firstEntries(statement)));
  },
});
