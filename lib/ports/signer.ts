import type { Hex, TypedDataDefinition, TransactionSerializableEIP1559 } from "viem";
import type { EvmAddress } from "./routing";

/**
 * Signs with keys that never leave it. `keyId` names the key, `projectId` whom it belongs to (null: the service's own);
 * a key asked for under another project does not exist.
 */
export interface Signer {
  /** Makes a key and returns its address. */
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
