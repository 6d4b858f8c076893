import { exportStatementCamt } from "@/lib/contracts/global-accounts";
import { xmlDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";

export const GET = route({
  contract: exportStatementCamt,
  handler: async ({ params, query, actor, services: { globalAccounts } }) => {
    const statement = await globalAccounts.statement(actor.projectId, params.id, query);
    return xmlDownload(`statement-${params.id}.xml`, await globalAccounts.camt053(statement));
  },
});
