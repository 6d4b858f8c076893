import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** A key at rest: encrypted under a data key of its own, and that data key under the key-encryption key. */
export interface Envelope {
  readonly ciphertext: Uint8Array;
  readonly wrappedDataKey: Uint8Array;
}

const seal = (key: Uint8Array, plaintext: Uint8Array, aad: Buffer): Buffer => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(aad);
  return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
};

const open = (key: Uint8Array, sealed: Uint8Array, aad: Buffer): Buffer => {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(aad).setAuthTag(bytes.subarray(-TAG_BYTES));
  return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
};

/** Encrypts `secret` (AES-256-GCM twice). `context` says whose key it is; without the same context it does not open. */
export const closeEnvelope = (keyEncryptionKey: Uint8Array, secret: Uint8Array, context: string): Envelope => {
  const dataKey = randomBytes(KEY_BYTES);
  const aad = Buffer.from(context);
  try {
    return { ciphertext: seal(dataKey, secret, aad), wrappedDataKey: seal(keyEncryptionKey, dataKey, aad) };
  } finally {
    dataKey.fill(0);
  }
};

/** @throws Error of node:crypto when the key-encryption key or the context is another one, or a bit was changed */
export const openEnvelope = (keyEncryptionKey: Uint8Array, envelope: Envelope, context: string): Buffer => {
  const aad = Buffer.from(context);
  const dataKey = open(keyEncryptionKey, envelope.wrappedDataKey, aad);
  try {
    return open(dataKey, envelope.ciphertext, aad);
  } finally {
    dataKey.fill(0);
  }
};
