import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  randomInt,
  timingSafeEqual,
} from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_BYTES = 32;
const TOKEN_BYTES = 32;
const CODE_DIGITS = 6;
const IV_BYTES = 12;
const TAG_BYTES = 16;

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
  /** HMAC-SHA256 with a key of its own for each purpose: what is stored instead of a secret. */
  hash(purpose: string, text: string): Buffer;
  /** Compares in constant time; different lengths are different. */
  equals(a: Uint8Array, b: Uint8Array): boolean;
  /** Six digits of a CSPRNG, evenly spread. */
  code(): string;
  /** The prefix and 32 random bytes in base62 (43 characters). */
  token(prefix: string): string;
  /** 32 bytes for another part that wants a secret of its own. */
  derive(purpose: string): Buffer;
}

/** Everything that hangs on the application's secret. Keys are derived by HKDF-SHA256 (RFC 5869), one for each purpose. */
export const createSecrets = (appSecret: string): Secrets => {
  const keys = new Map<string, Buffer>();
  const derive = (purpose: string): Buffer => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = Buffer.from(hkdfSync("sha256", appSecret, "causeway", purpose, KEY_BYTES));
    keys.set(purpose, key);
    return key;
  };
  return {
    hash: (purpose, text) => createHmac("sha256", derive(purpose)).update(text).digest(),
    equals: (a, b) => a.length === b.length && timingSafeEqual(a, b),
    code: () => String(randomInt(0, 10 ** CODE_DIGITS)).padStart(CODE_DIGITS, "0"),
    token: (prefix) => prefix + base62(randomBytes(TOKEN_BYTES)),
    derive,
  };
};

export interface Sealer {
  seal(plaintext: Uint8Array, context: string): Buffer;
  /** @throws Error when the key is another one, the context differs or a bit was changed; it carries none of the content */
  open(sealed: Uint8Array, context: string): Buffer;
}

/** AES-256-GCM: initialisation vector (12 bytes), ciphertext, tag (16 bytes). The context is authenticated, not stored. */
export const createSealer = (key: Uint8Array): Sealer => ({
  seal: (plaintext, context) => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
    return Buffer.concat([iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
  },
  open: (sealed, context) => {
    const bytes = Buffer.from(sealed);
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]);
  },
});
