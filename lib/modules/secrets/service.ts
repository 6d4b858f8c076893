import { createHmac, hkdfSync, randomBytes, randomInt, timingSafeEqual } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_BYTES = 32;
const TOKEN_BYTES = 32;
const CODE_DIGITS = 6;

/** Big-endian bytes in base62, padded to the length that the number of bytes can need: 32 bytes are 43 characters. */
export const base62 = (bytes: Uint8Array): string => {
  const length = Math.ceil((bytes.length * 8) / Math.log2(ALPHABET.length));
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
};

/** The inverse of {@link base62}; null when `text` is not such a text of `byteLength` bytes. */
export const fromBase62 = (text: string, byteLength: number): Buffer | null => {
  if (text.length !== Math.ceil((byteLength * 8) / Math.log2(ALPHABET.length))) return null;
  let value = 0n;
  for (const char of text) {
    const digit = ALPHABET.indexOf(char);
    if (digit < 0) return null;
    value = value * 62n + BigInt(digit);
  }
  if (value >> BigInt(byteLength * 8) !== 0n) return null;
  return Buffer.from(value.toString(16).padStart(byteLength * 2, "0"), "hex");
};

export interface Secrets {
  /** Names the current application secret; says nothing about it. */
  readonly id: string;
  /** HMAC-SHA256 with a key of its own for each purpose: what is stored instead of a secret. */
  hash(purpose: string, text: string): Buffer;
  /** The hash under each application secret that counts: the current one, then the previous one. */
  hashes(purpose: string, text: string): readonly Buffer[];
  /** Whether `stored` is the hash of this text under a secret that counts. */
  matches(purpose: string, text: string, stored: Uint8Array): boolean;
  /** Compares in constant time; different lengths are different. */
  equals(a: Uint8Array, b: Uint8Array): boolean;
  /** Six digits of a CSPRNG, evenly spread. */
  code(): string;
  /** The prefix and 32 random bytes in base62 (43 characters). */
  token(prefix: string): string;
  /** 32 bytes for another part that wants a secret of its own: of the current application secret, then of the previous one. */
  derive(purpose: string): readonly [Buffer, ...Buffer[]];
}

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
 * Everything that hangs on the application's secret. What was made under `previous` stays good, so that the secret can be changed
 * while instances run.
 */
export const createSecrets = (appSecret: string, previous: string | null = null): Secrets => {
  const current = createKeys(appSecret);
  const older = previous === null ? [] : [createKeys(previous)];
  const hash = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
  const derive: Secrets["derive"] = (purpose) => [current(purpose), ...older.map((keyOf) => keyOf(purpose))];
  const hashes: Secrets["hashes"] = (purpose, text) => derive(purpose).map((key) => hash(key, text));
  const equals: Secrets["equals"] = (a, b) => a.length === b.length && timingSafeEqual(a, b);
  return {
    id: current("application-secret-id").toString("hex").slice(0, ID_LENGTH),
    hash: (purpose, text) => hash(current(purpose), text),
    hashes,
    matches: (purpose, text, stored) => hashes(purpose, text).some((one) => equals(one, stored)),
    equals,
    code: () => String(randomInt(0, 10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0"),
    token: (prefix) => prefix + base62(randomBytes(TOKEN_BYTES)),
    derive,
  };
};
