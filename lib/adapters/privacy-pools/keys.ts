import { generateMasterKeys } from "@0xbow/privacy-pools-core-sdk";

/** From which every nullifier and secret of a private wallet follows. */
export interface MasterKeys {
  readonly masterNullifier: bigint;
  readonly masterSecret: bigint;
}

/** @param mnemonic of BIP-39, in English */
export const masterKeysOf = (mnemonic: string): MasterKeys => {
  const { masterNullifier, masterSecret } = generateMasterKeys(mnemonic);
  return { masterNullifier, masterSecret };
};
