import { driftsOf, measureChains } from "@/lib/chain/measured-facts";
import type { ChainRegistry } from "@/lib/chain/registry";
import { gauge } from "@/lib/platform/telemetry/registry";

const ratio = gauge({
  name: "causeway_chain_fact_ratio",
  help: "A measured fact of a chain divided by the value in the configuration: block_time_ms, final_depth",
  labels: ["chain", "fact"],
});

/**
 * Measures the chains and sets the metric.
 * @returns a sentence for each fact that differs from the configuration by more than a factor of
 * two
 */
export const observedFacts = async (registry: ChainRegistry): Promise<string[]> => {
  const facts = await measureChains(registry);
  for (const { chainId, name, measured, configured } of facts)
    ratio.set({ chain: String(chainId), fact: name }, measured / configured);
  return driftsOf(registry, facts);
};
