import { listPayoutItems } from "@/lib/contracts/payouts";
import { csvDownload } from "@/lib/http/csv-download";
import { ok, route } from "@/lib/http/route";
import { itemsCsv, toItems } from "@/lib/modules/payouts/serializer";

export const GET = route({
  contract: listPayoutItems,
  handler: async ({ params, query, actor, services }) => {
    const { payouts } = services;
    if (query.format === "json") return ok(toItems(await payouts.items(actor.projectId, params.id, query)));
    const view = await payouts.get(actor.projectId, params.id);
    return csvDownload(`payout-${params.id}.csv`, itemsCsv(view, payouts.allItems(view, query.status)));
  },
});
