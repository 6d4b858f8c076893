import { exportOperations } from "@/lib/contracts/operations";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { toDeposit } from "@/lib/money/deposits/serializer";
import { operationsCsv } from "@/lib/money/operations/serializer";

export const GET = route({
  contract: exportOperations,
  handler: ({ query, actor, services }) => {
    const operations = services.operations.allFor(actor, query);
    const depositsOf = async (rows: Parameters<typeof services.deposits.ofOperations>[1]) => {
      const views = await services.deposits.ofOperations(actor.projectId, rows);
      return new Map([...views].map(([id, view]) => [id, toDeposit(view, services.registry)]));
    };
    return csvDownload(
      "operations.csv",
      operationsCsv(operations, services.registry, depositsOf),
    );
  },
});
