import { createHash } from "node:crypto";

/** What is stored of the token of an invitation. */
export const hashOf = (token: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash("sha256").update(token).digest());
