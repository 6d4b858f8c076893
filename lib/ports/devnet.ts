import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "./routing";

/** Gives tokens away; only where the chains are local. */
export interface Faucet {
  /** Resolves when the transaction is mined. */
  give(to: EvmAddress, token: Token, amountBase: bigint): Promise<{ txHash: `0x${string}` }>;
}
