import type { PublicClient } from "viem";
import type { BundleTarget } from "@/lib/chains/erc4337/bundle-call";
import type { RollupKind } from "@/lib/chains/parent-fee";

/** The client, contracts and addresses for bundling operations on one chain. */
export interface ChainContext extends BundleTarget {
  readonly chainName: string;
  /** Undefined: the chain is no rollup. */
  readonly rollup: RollupKind | undefined;
  readonly client: PublicClient;
}
