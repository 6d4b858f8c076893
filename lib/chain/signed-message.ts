import {
  type Address,
  compactSignatureToSignature,
  encodeDeployData,
  erc6492SignatureValidatorAbi,
  erc6492SignatureValidatorByteCode,
  hashMessage,
  type Hex,
  isHex,
  parseCompactSignature,
  type PublicClient,
  serializeSignature,
  size,
  verifyMessage,
} from "viem";
import { DomainError } from "@/lib/core/errors";
import { withDeadline } from "@/lib/core/deadline";
import { isRateLimited, isStateMissing } from "./node-errors";

const COMPACT_BYTES = 64;

/**
 * Expands an externally owned account's signature to 65 bytes. Some wallets return 64 bytes, with
 * the parity in the highest bit of `s` (EIP-2098). Other lengths stay unchanged. Signatures that a
 * contract checks must not be expanded, because they may have any form.
 */
export const expandedSignature = (signature: Hex): Hex =>
  isHex(signature) && size(signature) === COMPACT_BYTES
    ? serializeSignature(compactSignatureToSignature(parseCompactSignature(signature)))
    : signature;

interface SignedMessage {
  readonly address: Address;
  readonly chainId: number;
  readonly message: string;
  readonly signature: Hex;
}

export interface ChainClients {
  client(chainId: number): Pick<PublicClient, "call" | "getChainId">;
}

/**
 * Gas limit of one signature check. A wallet that deploys itself and verifies a passkey in Solidity
 * needs less than a million. Without the limit, a sign-in attempt could make the node execute a
 * whole block's gas.
 */
const VERIFICATION_GAS_MAX = 3_000_000n;
const DEADLINE_MS = 5_000;
const LATE = { timeoutMs: DEADLINE_MS, message: `No answer within ${String(DEADLINE_MS)} ms.` };

/**
 * Checks who signed the message (EIP-191): an externally owned account by recovery, without the
 * network; otherwise a contract on the chain named in the message, deployed (ERC-1271) or not yet
 * (ERC-6492).
 * @returns the kind of account that signed, or null when the address did not sign
 * @throws DomainError `chain_unavailable` when the check needs the chain and it does not answer in
 * time
 */
export const verifySignedMessage = async (
  signed: SignedMessage,
  chains: ChainClients,
): Promise<"eoa" | "contract" | null> => {
  const { address, chainId, message, signature } = signed;
  if (await isRecovered({ address, message, signature })) return "eoa";
  // An odd number of hex digits is never a valid signature, and cannot be encoded for the contract.
  if (!isHex(signature) || signature.length % 2 !== 0) return null;
  const client = chains.client(chainId);
  try {
    return (await withDeadline(isContractSignature(signed, client), LATE)) ? "contract" : null;
  } catch (error) {
    const text = `Chain ${chainId} does not answer, and only it can check this signature. Try again in a moment, with a new message.`;
    throw new DomainError("chain_unavailable", text, { cause: error });
  }
};

/**
 * Calls ERC-6492's validator. If the signature contains the contract's deployment, the validator
 * deploys the contract first. The call changes nothing on chain.
 */
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
    // A call without `to`, so that viem does not follow an off-chain lookup in the contract's
    // answer (ERC-3668).
    const answer = await client.call({ data, gas: VERIFICATION_GAS_MAX });
    return answer.data !== undefined && BigInt(answer.data) === 1n;
  } catch (error) {
    if (isStateMissing(error) || isRateLimited(error)) throw error;
    // A reverted check and an unreachable chain throw the same error. The signature is wrong only
    // if the chain answers the next request.
    await client.getChainId();
    return false;
  }
};

/**
 * Whether the address is an externally owned account that signed the message (EIP-191). Needs no
 * network.
 */
export const isRecovered = async (signed: Omit<SignedMessage, "chainId">): Promise<boolean> => {
  try {
    return await verifyMessage({ ...signed, signature: expandedSignature(signed.signature) });
  } catch {
    // The bytes are not a secp256k1 signature. A contract may still accept them.
    return false;
  }
};
