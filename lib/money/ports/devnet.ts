import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";

/**
 * Gives tokens of local chains to any address.
 * @example
 * const { txHash } = await faucet.give(address, usdc, 5_000_000n);
 */
export interface Faucet {
  /** Sends `amountBase` base units of the token. Resolves when the transaction is mined. */
  give(to: EvmAddress, token: Token, amountBase: bigint): Promise<{ txHash: `0x${string}` }>;
}
