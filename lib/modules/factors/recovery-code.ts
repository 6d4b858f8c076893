import { createHash, randomBytes } from "node:crypto";
import { base32 } from "./totp";

const RECOVERY_CODES = 10;
const BYTES = 10;

/** Ten codes of 80 random bits: `abcd-efgh-ijkl-mnop`. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(BYTES)).toLowerCase().match(/.{4}/g) ?? []).join("-"),
  );

/**
 * The stored form of a code. SHA-256 without a secret key is enough for 80 random bits, and stays valid when APP_SECRET changes.
 * Case, spaces and dashes do not count.
 */
export const recoveryCodeHash = (userId: string, code: string): Uint8Array<ArrayBuffer> => {
  const plain = code.toLowerCase().replaceAll(/[\s-]/g, "");
  return new Uint8Array(createHash("sha256").update(`recovery-code\0${userId}\0${plain}`).digest());
};
