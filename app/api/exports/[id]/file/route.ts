import { downloadExport } from "@/lib/contracts/exports";
import { fileDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { exportFileName } from "@/lib/money/exports/serializer";

export const GET = route({
  contract: downloadExport,
  handler: async ({ params, actor, services }) => {
    const { export: made, content } = await services.exports.file(actor, params.id);
    return fileDownload(exportFileName(made), content);
  },
});
