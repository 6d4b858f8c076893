import { listChains } from "@/lib/contracts/chains";
import { ok, route } from "@/lib/http/route";
import { toPool } from "@/lib/money/privacy/serializer";

export const GET = route({
  contract: listChains,
  handler: ({ services }) =>
    ok({
      data: services.registry.list().map((chain) => ({
        id: chain.id,
        name: chain.name,
        testnet: chain.testnet,
        nativeCurrency: chain.nativeCurrency,
        rpcUrl: chain.publicRpcUrl ?? null,
        explorerUrl: chain.explorerUrl ?? null,
        confirmations: chain.confirmations,
        blockTimeMs: chain.blockTimeMs,
        multicall3: chain.contracts.multicall3,
        privacyPools: services.poolPlaces(chain.id).map(toPool),
        faucet: services.faucet !== null,
      })),
    }),
});
