import type { Bundler } from "@/lib/chain/ports/bundler";

interface RouterDeps {
  readonly executor: Bundler;
  readonly rpc: Bundler;
  readonly rpcChainIds: ReadonlySet<number>;
}

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
