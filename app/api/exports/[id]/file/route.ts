import { downloadExport } from "@/lib/contracts/exports";
import { exportFileName } from "@/lib/core/export-file-name";
import { fileDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";

export const GET = route({
  contract: downloadExport,
  handler: async ({ params, actor, services }) => {
    const { export: made, content } = await services.exports.file(actor, params.id);
    return fileDownload(
      exportFileName({ ...made, createdAt: made.createdAt.toISOString() }),
      content,
    );
  },
});
