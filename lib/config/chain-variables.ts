/** The environment variables of single chains, and how they replace fields of the chains file. */
import { z } from "zod";
import { listOf, type Variables } from "./production";

/** One for each chain, with its id at the end: `RPC_URL_8453`. */
export const CHAIN_VARIABLES = [
  "RPC_URL",
  "RPC_BUDGET",
  "PUBLIC_RPC_URL",
  "BUNDLER_URL",
  "ASP_URL",
  "PRIVATE_RELAY_URL",
  "SANCTIONS_ORACLE",
] as const;

export const chainVariable = (
  given: Variables,
  name: (typeof CHAIN_VARIABLES)[number],
  id: unknown,
): string | undefined => given[`${name}_${String(id)}`];

const looseChains = z.object({
  chains: z.array(
    z.looseObject({
      id: z.unknown(),
      contracts: z.looseObject({}).optional(),
      privacyPools: z.looseObject({}).optional(),
    }),
  ),
});

/** The content of a chains file with what the environment names in place of it; not parsed, as it may have problems of its own. */
export const withChainVariables = (json: unknown, given: Variables): unknown => {
  const loose = looseChains.safeParse(json);
  if (!loose.success) return json;
  return {
    chains: loose.data.chains.map((chain) => {
      const rpc = chainVariable(given, "RPC_URL", chain.id);
      const budget = chainVariable(given, "RPC_BUDGET", chain.id);
      const publicRpc = chainVariable(given, "PUBLIC_RPC_URL", chain.id);
      const aspSource = chainVariable(given, "ASP_URL", chain.id);
      const privateRelay = chainVariable(given, "PRIVATE_RELAY_URL", chain.id);
      const sanctionsOracle = chainVariable(given, "SANCTIONS_ORACLE", chain.id);
      const { contracts, privacyPools } = chain;
      return {
        ...chain,
        ...(rpc ? { rpcUrls: listOf(rpc) } : {}),
        ...(budget ? { rpcBudgetPerSecond: Number(budget) } : {}),
        ...(publicRpc ? { publicRpcUrl: publicRpc } : {}),
        ...(privateRelay ? { privateRelayUrl: privateRelay } : {}),
        ...(contracts && sanctionsOracle ? { contracts: { ...contracts, sanctionsOracle } } : {}),
        ...(privacyPools && aspSource ? { privacyPools: { ...privacyPools, aspSource } } : {}),
      };
    }),
  };
};
