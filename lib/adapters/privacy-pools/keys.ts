import { poseidon1 } from "poseidon-lite/poseidon1";
import { poseidon2 } from "poseidon-lite/poseidon2";
import { poseidon3 } from "poseidon-lite/poseidon3";
import { bytesToBigInt } from "viem";
import { mnemonicToAccount } from "viem/accounts";

/**
 * The same derivations as in @0xbow/privacy-pools-core-sdk 1.5.0; a test compares the results with
 * those of the SDK. Only the proving process loads the SDK, because loading it takes a second and a
 * hundred megabytes.
 */

export interface MasterKeys {
  readonly masterNullifier: bigint;
  readonly masterSecret: bigint;
}

export interface NoteSecrets {
  readonly nullifier: bigint;
  readonly secret: bigint;
}

const seedOf = (mnemonic: string, accountIndex: number): bigint => {
  const { privateKey } = mnemonicToAccount(mnemonic, { accountIndex }).getHdKey();
  if (privateKey === null) throw new Error("The mnemonic gives no private key.");
  return bytesToBigInt(privateKey);
};

/** Derives the master keys of a wallet. @param mnemonic in English (BIP-39) */
export const masterKeysOf = (mnemonic: string): MasterKeys => ({
  masterNullifier: poseidon1([seedOf(mnemonic, 0)]),
  masterSecret: poseidon1([seedOf(mnemonic, 1)]),
});

const secretsOf = (keys: MasterKeys, of: bigint, index: bigint): NoteSecrets => ({
  nullifier: poseidon3([keys.masterNullifier, of, index]),
  secret: poseidon3([keys.masterSecret, of, index]),
});

/** Secrets of the wallet's deposit number `index` into the pool with this scope. */
export const depositSecrets = (keys: MasterKeys, scope: bigint, index: bigint): NoteSecrets =>
  secretsOf(keys, scope, index);

/** Secrets of the change note of withdrawal number `index` from the deposit with this label. */
export const changeSecrets = (keys: MasterKeys, label: bigint, index: bigint): NoteSecrets =>
  secretsOf(keys, label, index);

export const precommitmentOf = ({ nullifier, secret }: NoteSecrets): bigint =>
  poseidon2([nullifier, secret]);

export const commitmentOf = (value: bigint, label: bigint, secrets: NoteSecrets): bigint =>
  poseidon3([value, label, precommitmentOf(secrets)]);

/** The hash that a pool publishes when a note is spent. */
export const nullifierHashOf = ({ nullifier }: NoteSecrets): bigint => poseidon1([nullifier]);

export const hashPair = (left: bigint, right: bigint): bigint => poseidon2([left, right]);
