import { getStatement } from "@/lib/contracts/global-accounts";
import { csvDownload } from "@/lib/http/csv-download";
import { ok, route } from "@/lib/http/route";
import { toStatement, toStatementCsv } from "@/lib/modules/global-accounts/serializer";

export const GET = route({
  contract: getStatement,
  handler: async ({ params, query, actor, services }) => {
    const { globalAccounts } = services;
    const statement = await globalAccounts.statement(actor.projectId, params.id, query);
    return query.format === "csv"
      ? csvDownload(`statement-${params.id}.csv`, toStatementCsv(statement, globalAccounts.allEntries(statement)))
      : ok(toStatement(statement, await globalAccounts.firstEntries(statement)));
  },
});
