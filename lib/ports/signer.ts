import type { Hex, TypedDataDefinition, TransactionSerializableEIP1559 } from "viem";
import type { EvmAddress } from "./routing";

/**
 * Signs with keys that never leave the signer. `keyId` names the key, `projectId` its owner (null: the service itself). Under another
 * project a key does not exist.
 * @example
 * const { address } = await signer.create({ keyId, projectId });
 * const signature = await signer.signTypedData({ keyId, projectId }, typedData);
 */
export interface Signer {
  /** Creates the key unless it exists, and returns its address. */
  create(scope: SignerScope): Promise<{ address: EvmAddress }>;
  address(scope: SignerScope): Promise<EvmAddress | null>;
  signTypedData(scope: SignerScope, data: TypedDataDefinition): Promise<Hex>;
  signMessage(scope: SignerScope, raw: Hex): Promise<Hex>;
  /** RLP-encoded signed transaction, ready for `eth_sendRawTransaction`. */
  signTransaction(scope: SignerScope, transaction: TransactionSerializableEIP1559): Promise<Hex>;
}

export interface SignerScope {
  readonly keyId: string;
  readonly projectId: string | null;
}
