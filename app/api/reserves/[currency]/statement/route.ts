import { toReserveStatement } from "@/lib/books/global-accounts/serializer";
import { getReserveStatement } from "@/lib/contracts/reserves";
import { ok, route } from "@/lib/http/route";

export const GET = route({
  contract: getReserveStatement,
  handler: async ({ params, query, actor, services: { globalAccounts } }) => {
    const { projectId } = actor;
    const statement = await globalAccounts.reserveStatement(projectId, params.currency, query);
    return ok(toReserveStatement(statement, await globalAccounts.firstEntries(statement)));
  },
});
