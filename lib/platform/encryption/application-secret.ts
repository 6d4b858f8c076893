import { createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { base62 } from "@/lib/core/base62";
import type { Secrets } from "./service";

const KEY_BYTES = 32;
const TOKEN_BYTES = 32;
const CODE_DIGITS = 6;

const ID_LENGTH = 16;

/** The keys of one application secret, by purpose: HKDF-SHA256 (RFC 5869). */
const createKeys = (appSecret: string): ((purpose: string) => Buffer) => {
  const keys = new Map<string, Buffer>();
  return (purpose) => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = Buffer.from(hkdfSync("sha256", appSecret, "causeway", purpose, KEY_BYTES));
    keys.set(purpose, key);
    return key;
  };
};

/**
 * Derives every key from the application secret (APP_SECRET). Hashes and keys made under `previous`
 * stay valid, so that the secret can be changed while instances run.
 * @example
 * const secrets = createSecrets(config.appSecret, config.appSecretPrevious);
 */
export const createSecrets = (appSecret: string, previous: string | null = null): Secrets => {
  const current = createKeys(appSecret);
  const older = previous === null ? [] : [createKeys(previous)];
  const hash = (key: Buffer, text: string): Buffer =>
    createHmac("sha256", key).update(text).digest();
  const derive: Secrets["derive"] = (purpose) => [
    current(purpose),
    ...older.map((keyOf) => keyOf(purpose)),
  ];
  const hashes: Secrets["hashes"] = (purpose, text) =>
    derive(purpose).map((key) => hash(key, text));
  const equals: Secrets["equals"] = (a, b) => a.length === b.length && timingSafeEqual(a, b);
  return {
    id: current("application-secret-id").toString("hex").slice(0, ID_LENGTH),
    hash: (purpose, text) => hash(current(purpose), text),
    hashes,
    matches: (purpose, text, stored) =>
      hashes(purpose, text).some((one) => equals(one, stored)),
    equals,
    code: () => String(randomInt(0, 10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0"),
    token: (prefix) => prefix + base62(randomBytes(TOKEN_BYTES)),
    derive,
  };
};
