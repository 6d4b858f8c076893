import type { ChainRegistry } from "./registry";

/** Blocks over which the block time is averaged. Timestamps are whole seconds. */
const SPAN_BLOCKS = 500n;
const SPAN_BLOCKS_MIN = 20n;

/** A fact about a chain, as its node shows it and as the configuration says. */
export interface ChainFact {
  readonly chainId: number;
  readonly name: "block_time_ms" | "final_depth";
  readonly measured: number;
  readonly configured: number;
}

type Chains = Pick<ChainRegistry, "list" | "client" | "learnBlockTime">;
type Chain = ReturnType<Chains["list"]>[number];

/** Measures one chain. A chain with few blocks gives no facts. */
const measureChain = async (registry: Chains, chain: Chain): Promise<ChainFact[]> => {
  const client = registry.client(chain.id);
  const head = await client.getBlock({ blockTag: "latest" });
  const span = head.number > SPAN_BLOCKS ? SPAN_BLOCKS : head.number;
  if (span < SPAN_BLOCKS_MIN) return [];
  const before = await client.getBlock({ blockNumber: head.number - span });
  const seconds = Number(head.timestamp - before.timestamp);
  const blockTime: ChainFact = {
    chainId: chain.id,
    name: "block_time_ms",
    measured: (seconds * 1000) / Number(span),
    configured: chain.blockTimeMs,
  };
  if (chain.finality === "confirmations") return [blockTime];
  const final = await client.getBlock({ blockTag: chain.finality });
  const depth: ChainFact = {
    chainId: chain.id,
    name: "final_depth",
    measured: Math.max(1, Number(head.number - final.number) + 1),
    configured: chain.confirmations,
  };
  return [blockTime, depth];
};

/**
 * Measures each chain's block time and, where finality is a tag of the node, the depth of the final
 * block. The registry uses the block time from then on. Chains that do not answer are left out.
 */
export const measureChains = async (registry: Chains): Promise<ChainFact[]> => {
  const facts = await Promise.all(
    registry.list().map((chain) => measureChain(registry, chain).catch((): ChainFact[] => [])),
  );
  const found = facts.flat();
  for (const { chainId, name, measured } of found)
    if (name === "block_time_ms") registry.learnBlockTime(chainId, measured);
  return found;
};

/** Factor by which a measured value may differ from the configured one. */
const DRIFT_FACTOR = 2;

/** A sentence for each fact that differs from the configuration by more than a factor of two. */
export const driftsOf = (
  registry: Pick<ChainRegistry, "get">,
  facts: readonly ChainFact[],
): string[] =>
  facts.flatMap(({ chainId, name, measured, configured }) => {
    const factor = measured / configured;
    if (factor <= DRIFT_FACTOR && factor >= 1 / DRIFT_FACTOR) return [];
    const chain = registry.get(chainId).name;
    return name === "block_time_ms"
      ? `${chain} makes a block every ${String(Math.round(measured))} ms; CHAINS_FILE says blockTimeMs ${String(configured)}`
      : `${chain}'s final block is ${String(measured)} blocks deep; CHAINS_FILE says confirmations ${String(configured)}`;
  });
