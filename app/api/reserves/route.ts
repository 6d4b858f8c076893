import { getReserves } from "@/lib/contracts/reserves";
import { ok, route } from "@/lib/http/route";
import { toReserves } from "@/lib/books/reserves/serializer";

export const GET = route({
  contract: getReserves,
  handler: async ({ actor, services }) => {
    const reserves = await services.reserves.list(actor.projectId);
    const data = await Promise.all(
      reserves.map(async (each) =>
        toReserves(each, await services.reserves.treeOf(actor.projectId, each.asset.assetId)),
      ),
    );
    return ok({ data, asOf: services.clock.now().toISOString() });
  },
});
