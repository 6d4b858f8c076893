import type { Address, PublicClient } from "viem";

/** Where operations run on one chain. */
export interface Place {
  readonly chainId: number;
  readonly chainName: string;
  readonly client: PublicClient;
  readonly entryPoint: Address;
  /** The project's paymaster, where the chain has one. */
  readonly paymaster: Address | null;
  /** Sends the bundles and is paid for them. */
  readonly executor: Address;
}
