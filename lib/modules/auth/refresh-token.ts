import { randomBytes } from "node:crypto";
import { parse, stringify } from "uuid";
import { ID_PREFIXES } from "@/lib/core/ids";
import { base62, fromBase62 } from "@/lib/core/base62";
import type { Secrets } from "@/lib/modules/encryption/service";

const PREFIX = "cw_rt_";
const ID_BYTES = 16;
const RANDOM_BYTES = 32;
const MAC_BYTES = 16;
const TOTAL_BYTES = ID_BYTES + RANDOM_BYTES + MAC_BYTES;
const SESSION_PREFIX = `${ID_PREFIXES.session}_`;

export interface RefreshTokens {
  make(sessionId: string): { readonly token: string; readonly hash: Buffer };
  /** null unless the token was made here, at whatever time. */
  read(token: string): { readonly sessionId: string; readonly hashes: readonly Buffer[] } | null;
}

/**
 * Refresh tokens: 32 random bytes, with the id of their session and a MAC over both. The MAC identifies every token
 * that was ever made for a session, however often it was rotated since, and the second use of one ends the session (RFC
 * 9700, 4.14.2); a forged token ends nothing. Only the keyed hash of the newest token is stored.
 */
export const createRefreshTokens = (secrets: Secrets): RefreshTokens => {
  /** Under each application secret that counts, the current one first. */
  const macsOf = (bytes: Uint8Array): Buffer[] =>
    secrets.hashes("refresh-token-mac", Buffer.from(bytes).toString("base64")).map((mac) => mac.subarray(0, MAC_BYTES));
  const macOf = (bytes: Uint8Array): Buffer =>
    secrets.hash("refresh-token-mac", Buffer.from(bytes).toString("base64")).subarray(0, MAC_BYTES);
  return {
    make: (sessionId) => {
      const id = parse(sessionId.slice(SESSION_PREFIX.length));
      const bytes = Buffer.concat([id, randomBytes(RANDOM_BYTES)]);
      const token = PREFIX + base62(Buffer.concat([bytes, macOf(bytes)]));
      return { token, hash: secrets.hash("refresh-token", token) };
    },
    read: (token) => {
      const bytes = token.startsWith(PREFIX) ? fromBase62(token.slice(PREFIX.length), TOTAL_BYTES) : null;
      if (bytes === null) return null;
      const content = bytes.subarray(0, -MAC_BYTES);
      if (!macsOf(content).some((mac) => secrets.equals(mac, bytes.subarray(-MAC_BYTES)))) return null;
      const sessionId = SESSION_PREFIX + stringify(bytes.subarray(0, ID_BYTES));
      return { sessionId, hashes: secrets.hashes("refresh-token", token) };
    },
  };
};
