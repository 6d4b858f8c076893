import { isHex, verifyMessage, type Address, type Hex, type PublicClient } from "viem";
import { DomainError } from "@/lib/core/errors";

export interface SignedMessage {
  readonly address: Address;
  readonly chainId: number;
  readonly message: string;
  readonly signature: Hex;
}

export interface ChainClients {
  client(chainId: number): Pick<PublicClient, "verifyMessage" | "getChainId">;
}

/**
 * Whether the address signed the message (EIP-191): a plain account by recovery, without the network; else a contract on the chain
 * that the message names, deployed (ERC-1271) or not yet (ERC-6492).
 * @returns what kind of account signed, or null when it did not
 * @throws DomainError `chain_unavailable` when only the chain could tell, and does not answer
 */
export const verifySignedMessage = async (
  { address, chainId, message, signature }: SignedMessage,
  chains: ChainClients,
): Promise<"eoa" | "contract" | null> => {
  if (await isRecovered({ address, message, signature })) return "eoa";
  // Half a byte is no signature, and would be no valid question to the chain either.
  if (!isHex(signature) || signature.length % 2 !== 0) return null;
  const client = chains.client(chainId);
  try {
    if (await client.verifyMessage({ address, message, signature })) return "contract";
    // viem says false for a chain that is away, too; only one that answers may call a signature wrong.
    await client.getChainId();
    return null;
  } catch (error) {
    const text = `Chain ${chainId} does not answer, and only it can check this signature. Try again in a moment.`;
    throw new DomainError("chain_unavailable", text, { cause: error });
  }
};

/** Whether the address is a plain account that signed the message (EIP-191). Without the network. */
export const isRecovered = async (signed: Omit<SignedMessage, "chainId">): Promise<boolean> => {
  try {
    return await verifyMessage(signed);
  } catch {
    // Not a signature of 65 bytes: a contract's may have any form.
    return false;
  }
};
