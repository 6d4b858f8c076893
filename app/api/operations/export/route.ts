import { exportOperations } from "@/lib/contracts/operations";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { operationsCsv } from "@/lib/modules/operations/serializer";

export const GET = route({
  contract: exportOperations,
  handler: ({ query, actor, services }) => {
    const operations = services.operations.allFor(actor, query);
    return csvDownload("operations.csv", operationsCsv(operations, services.registry));
  },
});
