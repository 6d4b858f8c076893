import { createHash, randomBytes } from "node:crypto";
import type { Envelopes, Sealed } from "@/lib/platform/ports/encryption";
import { decrypt, encrypt } from "./aes-gcm";
import { UnknownKeyError, UnreadableError } from "./errors";

const KEY_BYTES = 32;
const ID_LENGTH = 16;

/** Identifies the key without revealing it. Every process computes the same id. */
export const keyIdOf = (key: Uint8Array): string =>
  `kek_${createHash("sha256").update("causeway key-encryption key id\0").update(key).digest("hex").slice(0, ID_LENGTH)}`;

/** Hashes, codes, tokens and keys that depend on the application secret (APP_SECRET). */
export interface Secrets {
  /** Identifies the current application secret without revealing it. */
  readonly id: string;
  /**
   * HMAC-SHA256 (RFC 2104) with a separate key for each purpose. This hash is stored instead of the
   * secret text.
   */
  hash(purpose: string, text: string): Buffer;
  /** The hash under each valid application secret: the current one, then the previous one. */
  hashes(purpose: string, text: string): readonly Buffer[];
  /** Whether `stored` is the hash of this text under a valid application secret. */
  matches(purpose: string, text: string, stored: Uint8Array): boolean;
  /** Compares in constant time. Values of different lengths are different. */
  equals(a: Uint8Array, b: Uint8Array): boolean;
  /** A one-time code: six digits from a CSPRNG, evenly distributed. */
  code(): string;
  /** The prefix and 32 random bytes in base62 (43 characters). */
  token(prefix: string): string;
  /**
   * Derives 32-byte keys for `purpose`: the first from the current application secret, further ones
   * from previous secrets.
   */
  derive(purpose: string): readonly [Buffer, ...Buffer[]];
}

export interface Keyring {
  readonly currentId: string;
  /** Ids of all keys of the keyring, the current one first. */
  readonly ids: readonly string[];
  /** Encrypts under the current key. */
  seal(plaintext: Uint8Array, context: string): Sealed;
  /** Decrypts under the key that `sealed` names. @throws UnknownKeyError, UnreadableError */
  open(sealed: Sealed, context: string): Buffer;
}

export interface EncryptedRow {
  readonly id: string;
  /** The context with which the bytes were encrypted (additional authenticated data). */
  readonly context: string;
  readonly sealed: Sealed;
}

/** A table with values that are encrypted under key-encryption keys. */
export interface EncryptedRows {
  /** Name of the values for people, such as "wallet keys". */
  readonly name: string;
  /** For each key id, the number of rows that are encrypted under that key. */
  count(): Promise<ReadonlyMap<string, number>>;
  /** The key ids in use; cheap for any number of rows. */
  keyIds(): Promise<readonly string[]>;
  /** Rows under this key, by id, beginning after `afterId`. */
  batch(page: {
    readonly kekId: string;
    readonly afterId: string;
    readonly limit: number;
  }): Promise<EncryptedRow[]>;
  /** Stores the new bytes of a row. Returns false when the row was changed since it was read. */
  replace(row: EncryptedRow, next: Sealed): Promise<boolean>;
}

/**
 * Creates a keyring whose first key encrypts; all keys decrypt.
 * @throws Error unless each key has 32 bytes
 */
export const createKeyring = ([current, ...previous]: readonly [
  Uint8Array,
  ...Uint8Array[],
]): Keyring => {
  const keys = new Map([current, ...previous].map((key) => [keyIdOf(key), key]));
  for (const key of keys.values())
    if (key.length !== KEY_BYTES) throw new Error("A key-encryption key must have 32 bytes.");
  const currentId = keyIdOf(current);

  return {
    currentId,
    ids: [...keys.keys()],
    seal: (plaintext, context) => ({
      kekId: currentId,
      bytes: encrypt(current, plaintext, { context }),
    }),
    open: ({ kekId, bytes }, context) => {
      const key = keys.get(kekId);
      if (key === undefined) throw new UnknownKeyError(kekId);
      try {
        return decrypt(key, bytes, { context });
      } catch {
        // The error of node:crypto does not help an operator, so it is dropped.
        throw new UnreadableError(kekId);
      }
    },
  };
};

/**
 * Encrypts each secret under a separate data key. A rotation of the key-encryption key re-encrypts
 * only the 32 bytes of the data key and does not decrypt the secret.
 */
export const createEnvelopes = (keyring: Keyring): Envelopes => ({
  close: (secret, context) => {
    const dataKey = randomBytes(KEY_BYTES);
    try {
      const { kekId, bytes } = keyring.seal(dataKey, context);
      return {
        ciphertext: encrypt(dataKey, secret, { context }),
        wrappedDataKey: bytes,
        kekId,
      };
    } finally {
      dataKey.fill(0);
    }
  },
  open: ({ ciphertext, wrappedDataKey, kekId }, context) => {
    const dataKey = keyring.open({ kekId, bytes: wrappedDataKey }, context);
    try {
      return decrypt(dataKey, ciphertext, { context });
    } finally {
      dataKey.fill(0);
    }
  },
});
