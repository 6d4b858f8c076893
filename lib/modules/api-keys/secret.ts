import { randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";
import { base62 } from "@/lib/core/base62";

/** Of the keyed hash that is stored. */
export const HASH_PURPOSE = "api-key";
const SECRET_BYTES = 32;
const BODY_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const LOOKUP_LENGTH = 10;
const SHOWN_LENGTH = 4;
const PATTERN = new RegExp(`^(cw_(?:live|test)_)([0-9A-Za-z]{${BODY_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`);

export interface ApiKeySecret {
  /** The whole of it, shown once. */
  readonly secret: string;
  /** The public part by which it is found; more than 190 of the 256 bits stay secret. */
  readonly lookup: string;
  /** How the key is shown later: `cw_test_Ab3x` … `9ZqP`. */
  readonly prefix: string;
  readonly last4: string;
}

const checksum = (text: string): string => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base62(bytes);
};

const describe = (secret: string, kind: string): ApiKeySecret => ({
  secret,
  lookup: secret.slice(0, kind.length + LOOKUP_LENGTH),
  prefix: secret.slice(0, kind.length + SHOWN_LENGTH),
  last4: secret.slice(-4),
});

/** `cw_test_` or `cw_live_`, 32 random bytes in base62, and a CRC-32 so that a mistyped key is known without the database. */
export const newApiKeySecret = (kind: "test" | "live"): ApiKeySecret => {
  const start = `cw_${kind}_`;
  const text = start + base62(randomBytes(SECRET_BYTES));
  return describe(text + checksum(text), start);
};

/** null when `secret` cannot be a key of this service: wrong form or wrong checksum. */
export const parseApiKeySecret = (secret: string): ApiKeySecret | null => {
  const [, kind, body, sum] = PATTERN.exec(secret) ?? [];
  if (kind === undefined || body === undefined || sum !== checksum(kind + body)) return null;
  return describe(secret, kind);
};
