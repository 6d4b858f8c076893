import type { PublicClient } from "viem";
import type { BundleTarget } from "@/lib/chains/erc4337/bundle-call";

/** The client, contracts and addresses for bundling operations on one chain. */
export interface ChainContext extends BundleTarget {
  readonly chainName: string;
  readonly client: PublicClient;
}
