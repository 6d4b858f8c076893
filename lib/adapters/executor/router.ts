import type { Bundler } from "@/lib/chain/ports/bundler";

interface RouterDeps {
  /** The bundler for chains without an ERC-4337 JSON-RPC in the configuration. */
  readonly executor: Bundler;
  readonly rpc: Bundler;
  /** Chains whose operations go to an ERC-4337 JSON-RPC. */
  readonly rpcChainIds: ReadonlySet<number>;
}

/** Combines both bundlers into one that forwards each call to the bundler of its chain. */
export const createBundlerRouter = ({ executor, rpc, rpcChainIds }: RouterDeps): Bundler => {
  const of = (chainId: number): Bundler => (rpcChainIds.has(chainId) ? rpc : executor);
  return {
    id: "router",
    fees: (chainId) => of(chainId).fees(chainId),
    estimateGas: (chainId, operation) => of(chainId).estimateGas(chainId, operation),
    submit: (chainId, operation, options) => of(chainId).submit(chainId, operation, options),
    receipt: (...asked) => of(asked[0]).receipt(...asked),
  };
};
