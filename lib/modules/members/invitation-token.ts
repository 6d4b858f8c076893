import { createHash } from "node:crypto";

/** The SHA-256 of an invitation's token, which is stored in the token's place. */
export const hashOf = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash("sha256").update(token).digest());
