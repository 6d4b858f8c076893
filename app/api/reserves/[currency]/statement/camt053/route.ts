import { exportReserveStatementCamt } from "@/lib/contracts/reserves";
import { xmlDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";

export const GET = route({
  contract: exportReserveStatementCamt,
  handler: async ({ params, query, actor, services: { globalAccounts } }) => {
    const { projectId } = actor;
    const statement = await globalAccounts.reserveStatement(projectId, params.currency, query);
    return xmlDownload(
      `reserve-${statement.assetId}.xml`,
      await globalAccounts.camt053(statement),
    );
  },
});
