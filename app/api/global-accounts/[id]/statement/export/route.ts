import { exportStatement } from "@/lib/contracts/global-accounts";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { toStatementCsv } from "@/lib/books/global-accounts/serializer";

export const GET = route({
  contract: exportStatement,
  handler: async ({ params, query, actor, services: { globalAccounts } }) => {
    const statement = await globalAccounts.statement(actor.projectId, params.id, query);
    return csvDownload(
      `statement-${params.id}.csv`,
      toStatementCsv(statement, globalAccounts.allEntries(statement)),
    );
  },
});
