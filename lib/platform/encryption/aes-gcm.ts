import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Order of the parts. Secrets of the database: initialisation vector (12 bytes), ciphertext, tag
 * (16 bytes). Stored answers: initialisation vector, tag, ciphertext. Both orders are in databases,
 * so neither may change.
 */
type Layout = "tag-last" | "tag-first";

interface Binding {
  /** Authenticated but not stored: decryption needs the same context. */
  readonly context: string;
  readonly layout?: Layout;
}

/** AES-256-GCM (NIST SP 800-38D) with a random initialisation vector. */
export const encrypt = (
  key: Uint8Array,
  plaintext: Uint8Array,
  { context, layout = "tag-last" }: Binding,
): Buffer => {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  const tag = cipher.getAuthTag();
  return Buffer.concat(layout === "tag-last" ? [iv, ciphertext, tag] : [iv, tag, ciphertext]);
};

/**
 * Decrypts bytes that `encrypt` returned.
 * @throws Error of node:crypto when the key or the context differs or a bit was changed; the error
 * has no content
 */
export const decrypt = (
  key: Uint8Array,
  sealed: Uint8Array,
  { context, layout = "tag-last" }: Binding,
): Buffer => {
  const rest = Buffer.from(sealed.subarray(IV_BYTES));
  const isLast = layout === "tag-last";
  const tag = isLast ? rest.subarray(-TAG_BYTES) : rest.subarray(0, TAG_BYTES);
  const ciphertext = isLast ? rest.subarray(0, -TAG_BYTES) : rest.subarray(TAG_BYTES);
  const iv = sealed.subarray(0, IV_BYTES);
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(context)).setAuthTag(tag);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
};

const KEY_BYTES = 32;
// Context and layout of stored texts. They must not change, because existing rows have this
// format.
const FORMAT = { context: "", layout: "tag-first" } as const;

/** The current application secret encrypts; the previous ones still decrypt. */
export type AppSecrets = readonly [string, ...string[]];

/**
 * Derives a key with HKDF-SHA256 (RFC 5869). `parts` identify the owner of the text: it can only be
 * decrypted with the same parts.
 */
const keyOf = (appSecret: string, parts: readonly string[]): Buffer =>
  Buffer.from(hkdfSync("sha256", appSecret, "", parts.join("\0"), KEY_BYTES));

/**
 * Encrypts text under the key that is derived for `parts` from the current secret. @returns base64
 */
export const sealText = (
  [appSecret]: AppSecrets,
  parts: readonly string[],
  text: string,
): string => encrypt(keyOf(appSecret, parts), Buffer.from(text), FORMAT).toString("base64");

/**
 * Decrypts the text of {@link sealText}. Returns null when none of the secrets matches, or the
 * parts differ.
 */
export const openText = (
  appSecrets: AppSecrets,
  parts: readonly string[],
  sealed: string,
): string | null => {
  for (const appSecret of appSecrets) {
    try {
      return decrypt(keyOf(appSecret, parts), Buffer.from(sealed, "base64"), FORMAT).toString(
        "utf8",
      );
    } catch {
      // Tries the next secret, because the text may have been encrypted under the previous one.
    }
  }
  return null;
};
