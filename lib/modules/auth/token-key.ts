import { z } from "zod";
import type { Sealed } from "@/lib/ports/encryption";

/** A public key for ES256 (RFC 7518). */
export const publicJwk = z.object({ kty: z.literal("EC"), crv: z.literal("P-256"), x: z.string(), y: z.string() });

export type PublicJwk = z.output<typeof publicJwk>;

/** A key that signs access tokens. */
export interface TokenKey {
  readonly kid: string;
  readonly publicJwk: PublicJwk;
  /** The private part (PKCS #8), encrypted under a key-encryption key. */
  readonly sealed: Sealed;
  readonly createdAt: Date;
}

/** A row of the table `token_key`. */
interface TokenKeyColumns {
  readonly kid: string;
  readonly publicJwk: unknown;
  readonly privateEncrypted: Uint8Array;
  readonly kekId: string;
  readonly createdAt: Date;
}

/** @throws ZodError when the stored public key is none for ES256 */
export const parseTokenKey = (row: TokenKeyColumns): TokenKey => ({
  kid: row.kid,
  publicJwk: publicJwk.parse(row.publicJwk),
  sealed: { kekId: row.kekId, bytes: row.privateEncrypted },
  createdAt: row.createdAt,
});
