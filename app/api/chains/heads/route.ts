import { listChainHeads } from "@/lib/contracts/chains";
import { ok, route } from "@/lib/http/route";

/**
 * Age in milliseconds up to which the chain's client reuses an answer. Anybody may open the pages
 * that call this route, and they must cause few calls of nodes.
 */
const FRESH_MS = 2_000;

export const GET = route({
  contract: listChainHeads,
  handler: async ({ services: { registry } }) => {
    const blockOf = async (chainId: number): Promise<number | null> => {
      try {
        return Number(await registry.client(chainId).getBlockNumber({ cacheTime: FRESH_MS }));
      } catch {
        return null;
      }
    };
    const data = await Promise.all(
      registry.list().map(async ({ id }) => ({ chainId: id, block: await blockOf(id) })),
    );
    return ok({ data });
  },
});
