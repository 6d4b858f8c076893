import { exportPayoutItems } from "@/lib/contracts/payouts";
import { csvDownload } from "@/lib/http/csv-download";
import { route } from "@/lib/http/route";
import { itemsCsv } from "@/lib/money/payouts/serializer";

export const GET = route({
  contract: exportPayoutItems,
  handler: async ({ params, query, actor, services: { payouts } }) => {
    const view = await payouts.get(actor.projectId, params.id);
    return csvDownload(
      `payout-${params.id}.csv`,
      itemsCsv(view, payouts.allItems(view, query.status)),
    );
  },
});
