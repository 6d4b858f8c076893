import { toStatementCsv } from "@/lib/books/global-accounts/serializer";
import { exportReserveStatement } from "@/lib/contracts/reserves";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";

export const GET = route({
  contract: exportReserveStatement,
  handler: async ({ params, query, actor, services: { globalAccounts } }) => {
    const { projectId } = actor;
    const statement = await globalAccounts.reserveStatement(projectId, params.currency, query);
    return csvDownload(
      `reserve-${statement.assetId}.csv`,
      toStatementCsv(statement, globalAccounts.allEntries(statement)),
    );
  },
});
