import type { Hex, TypedDataDefinition, TransactionSerializableEIP1559 } from "viem";
import type { EvmAddress } from "@/lib/core/evm";

/**
 * Signs with secp256k1 keys that never leave the signer. `keyId` identifies the key and `projectId`
 * its owner (null: the service itself). A key of another owner counts as unknown. Signing methods
 * throw DomainError `not_found` for an unknown key.
 * @example
 * const { address } = await signer.create({ keyId, projectId });
 * const signature = await signer.signTypedData({ keyId, projectId }, typedData);
 */
export interface Signer {
  /**
   * Creates the key, unless it exists, and returns its address.
   * @throws DomainError `not_found` when the key has another owner
   */
  create(scope: SignerScope): Promise<{ address: EvmAddress }>;
  /** The checksummed address (EIP-55) of the key; null when the key does not exist. */
  address(scope: SignerScope): Promise<EvmAddress | null>;
  /** Signs typed structured data (EIP-712). The signature has 65 bytes. */
  signTypedData(scope: SignerScope, data: TypedDataDefinition): Promise<Hex>;
  /** Signs bytes with the prefix of EIP-191. The signature has 65 bytes. */
  signMessage(scope: SignerScope, raw: Hex): Promise<Hex>;
  /** Signs an EIP-1559 transaction and returns it RLP-encoded, for `eth_sendRawTransaction`. */
  signTransaction(
    scope: SignerScope,
    transaction: TransactionSerializableEIP1559,
  ): Promise<Hex>;
}

export interface SignerScope {
  readonly keyId: string;
  readonly projectId: string | null;
}
