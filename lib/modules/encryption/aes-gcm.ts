import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Order of the parts. Secrets of the database: initialisation vector (12 bytes), ciphertext, tag (16 bytes).
 * Stored answers: initialisation vector, tag, ciphertext. Both orders are in databases, so neither may change.
 */
export type Layout = "tag-last" | "tag-first";

interface Binding {
  /** Authenticated, not stored: decryption needs the same context. */
  readonly context: string;
  readonly layout?: Layout;
}

/** AES-256-GCM (NIST SP 800-38D) with a random initialisation vector. */
export const encrypt = (key: Uint8Array, plaintext: Uint8Array, { context, layout = "tag-last" }: Binding): Buffer => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  const tag = cipher.getAuthTag();
  return Buffer.concat(layout === "tag-last" ? [iv, ciphertext, tag] : [iv, tag, ciphertext]);
};

/** @throws Error of node:crypto when the key or the context is another one or a bit was changed; the error carries no content */
export const decrypt = (key: Uint8Array, sealed: Uint8Array, { context, layout = "tag-last" }: Binding): Buffer => {
  const rest = Buffer.from(sealed.subarray(IV_BYTES));
  const isLast = layout === "tag-last";
  const tag = isLast ? rest.subarray(-TAG_BYTES) : rest.subarray(0, TAG_BYTES);
  const ciphertext = isLast ? rest.subarray(0, -TAG_BYTES) : rest.subarray(TAG_BYTES);
  const iv = sealed.subarray(0, IV_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
};
