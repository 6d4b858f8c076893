import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Sealed } from "@/lib/platform/ports/encryption";

const STEP_SECONDS = 30;
const DIGITS = 6;
const STEPS_EITHER_SIDE = 1;
/**
 * Length of a new secret: the 160 bits that RFC 4226 (section 4) recommends. It requires 128 bits.
 */
export const TOTP_SECRET_BYTES = 20;

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Base32 (RFC 4648, 6) without padding, as authenticator apps read it. */
export const base32 = (bytes: Uint8Array): string => {
  let text = "";
  let value = 0;
  let bits = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += BASE32.charAt((value >>> bits) & 31);
    }
    value &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + BASE32.charAt((value << (5 - bits)) & 31);
};

/** The number of full 30 s intervals since 1970 (RFC 6238, 4.2). */
export const stepAt = (time: Date): number => Math.floor(time.getTime() / 1000 / STEP_SECONDS);

/** The code of a time step: HOTP with HMAC-SHA-1 and 6 digits (RFC 4226, 5.3; RFC 6238, 4). */
export const totpCode = (secret: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0xf;
  const number = mac.readUInt32BE(offset) & 0x7fff_ffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, "0");
};

/**
 * The time step to which this code belongs: the current, the previous or the next one. Null when it
 * belongs to none of them.
 */
export const matchingStep = (secret: Uint8Array, code: string, now: Date): number | null => {
  const current = stepAt(now);
  let match: number | null = null;
  for (let step = current - STEPS_EITHER_SIDE; step <= current + STEPS_EITHER_SIDE; step += 1) {
    const expected = Buffer.from(totpCode(secret, step));
    const given = Buffer.from(code);
    // Every step is compared, so that the duration does not reveal which step matched.
    if (given.length === expected.length && timingSafeEqual(given, expected)) match = step;
  }
  return match;
};

/** The link that an authenticator app reads from a QR code (Key URI format). */
export const totpUri = (secret: Uint8Array, account: string, issuer: string): string => {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`;
  const fields = `secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`;
  return `otpauth://totp/${label}?${fields}&algorithm=SHA1&digits=${String(DIGITS)}&period=${String(STEP_SECONDS)}`;
};

const RECOVERY_CODES = 10;
const BYTES = 10;

/** Ten codes of 80 random bits: `abcd-efgh-ijkl-mnop`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(BYTES)).toLowerCase().match(/.{4}/g) ?? []).join("-"),
  );

/**
 * The stored form of a code. SHA-256 without a secret key is enough for 80 random bits, and stays
 * valid when APP_SECRET changes. Case, spaces and dashes do not count.
 */
export const recoveryCodeHash = (userId: string, code: string): Uint8Array<ArrayBuffer> => {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "");
  return new Uint8Array(
    createHash("sha256").update(`recovery-code\0${userId}\0${plain}`).digest(),
  );
};

export interface TotpFactor {
  readonly userId: string;
  readonly id: string;
  readonly sealed: Sealed;
  readonly createdAt: Date;
  /** Null until a first code proved that the app has the secret. */
  readonly confirmedAt: Date | null;
  readonly lastStep: number | null;
}

interface TotpRow extends Omit<TotpFactor, "sealed"> {
  readonly secretEncrypted: Uint8Array;
  readonly kekId: string;
}

export const parseTotpFactor = (row: TotpRow): TotpFactor => ({
  userId: row.userId,
  id: row.id,
  sealed: { kekId: row.kekId, bytes: row.secretEncrypted },
  createdAt: row.createdAt,
  confirmedAt: row.confirmedAt,
  lastStep: row.lastStep,
});
