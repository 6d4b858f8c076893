import { hkdfSync } from "node:crypto";
import { decrypt, encrypt } from "./aes-gcm";

const KEY_BYTES = 32;
// An empty context and this layout are the stored format of rows that exist already.
const FORMAT = { context: "", layout: "tag-first" } as const;

/** The current application secret encrypts; the previous ones still decrypt. */
export type AppSecrets = readonly [string, ...string[]];

/** HKDF-SHA256 (RFC 5869). `parts` say what the text belongs to: without the same parts it does not open. */
const keyOf = (appSecret: string, parts: readonly string[]): Buffer =>
  Buffer.from(hkdfSync("sha256", appSecret, "", parts.join("\0"), KEY_BYTES));

/** Encrypts text under a key of its own. @returns base64 */
export const sealText = ([appSecret]: AppSecrets, parts: readonly string[], text: string): string =>
  encrypt(keyOf(appSecret, parts), Buffer.from(text), FORMAT).toString("base64");

/** The text that {@link sealText} encrypted. Returns null when none of the secrets opens it, or the parts are others. */
export const openText = (appSecrets: AppSecrets, parts: readonly string[], sealed: string): string | null => {
  for (const appSecret of appSecrets) {
    try {
      return decrypt(keyOf(appSecret, parts), Buffer.from(sealed, "base64"), FORMAT).toString("utf8");
    } catch {
      // The text may have been encrypted under the previous secret.
    }
  }
  return null;
};
