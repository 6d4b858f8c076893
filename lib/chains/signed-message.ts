import {
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  hashMessage,
  isHex,
  verifyMessage,
  type Address,
  type Hex,
  type PublicClient,
} from "viem";
import { DomainError } from "@/lib/core/errors";
import { withDeadline } from "@/lib/core/deadline";

export interface SignedMessage {
  readonly address: Address;
  readonly chainId: number;
  readonly message: string;
  readonly signature: Hex;
}

export interface ChainClients {
  client(chainId: number): Pick<PublicClient, "call" | "getChainId">;
}

/**
 * What one check may cost a node. A wallet that deploys itself and checks a passkey in Solidity stays below a million; without the bound
 * whoever tries to sign in could have the node run a whole block's gas.
 */
const VERIFICATION_GAS_MAX = 3_000_000n;
const DEADLINE_MS = 5_000;
const LATE = { timeoutMs: DEADLINE_MS, message: `No answer within ${String(DEADLINE_MS)} ms.` };

/**
 * Whether the address signed the message (EIP-191): a plain account by recovery, without the network; else a contract on the chain
 * that the message names, deployed (ERC-1271) or not yet (ERC-6492).
 * @returns what kind of account signed, or null when it did not
 * @throws DomainError `chain_unavailable` when only the chain could tell, and does not answer in time
 */
export const verifySignedMessage = async (
  signed: SignedMessage,
  chains: ChainClients,
): Promise<"eoa" | "contract" | null> => {
  const { address, chainId, message, signature } = signed;
  if (await isRecovered({ address, message, signature })) return "eoa";
  // Half a byte is no signature, and would be no valid question to the chain either.
  if (!isHex(signature) || signature.length % 2 !== 0) return null;
  const client = chains.client(chainId);
  try {
    return (await withDeadline(isContractSignature(signed, client), LATE)) ? "contract" : null;
  } catch (error) {
    const text = `Chain ${chainId} does not answer, and only it can check this signature. Try again in a moment, with a new message.`;
    throw new DomainError("chain_unavailable", text, { cause: error });
  }
};

/** ERC-6492's validator asks the contract, and deploys it first where the signature says how. Nothing stays on the chain. */
const isContractSignature = async (
  { address, message, signature }: SignedMessage,
  client: Pick<PublicClient, "call" | "getChainId">,
): Promise<boolean> => {
  const data = encodeDeployData({
    abi: erc6492SignatureValidatorAbi,
    bytecode: erc6492SignatureValidatorByteCode,
    args: [address, hashMessage(message), signature],
  });
  try {
    // A call without a target: viem follows no link that a contract answers with (ERC-3668).
    const answer = await client.call({ data, gas: VERIFICATION_GAS_MAX });
    return answer.data !== undefined && BigInt(answer.data) === 1n;
  } catch {
    // A reverted check and a chain that is away look alike; only a chain that answers may call a signature wrong.
    await client.getChainId();
    return false;
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
