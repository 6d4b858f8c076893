import type { PublicClient } from "viem";
import type { BundleTarget } from "@/lib/chains/erc4337/bundle-call";

/** Where operations run on one chain. */
export interface ChainContext extends BundleTarget {
  readonly chainName: string;
  readonly client: PublicClient;
}
