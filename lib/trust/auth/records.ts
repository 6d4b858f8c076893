import { z } from "zod";
import type { Sealed } from "@/lib/platform/ports/encryption";

export interface EmailCode {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly codeHash: Uint8Array;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly closedAt: Date | null;
  /**
   * The approval that allows the address; null when the person had verified the address before.
   */
  readonly approvalId: string | null;
  readonly approvedBy: string | null;
  /** The verified address that the code may replace; null for a first address. */
  readonly replaces: string | null;
  /** The time until which the code may be mailed again with the same approval. */
  readonly approvedUntil: Date | null;
}

export const parseEmailCode = (row: EmailCode): EmailCode => ({
  id: row.id,
  userId: row.userId,
  email: row.email,
  codeHash: row.codeHash,
  attempts: row.attempts,
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  closedAt: row.closedAt,
  approvalId: row.approvalId,
  approvedBy: row.approvedBy,
  replaces: row.replaces,
  approvedUntil: row.approvedUntil,
});

/**
 * Whether the code was mailed. When the mail fails, the code's time of expiry is set to its time of
 * creation.
 */
export const wasDelivered = ({ expiresAt, createdAt }: EmailCode): boolean =>
  expiresAt > createdAt;

export interface User {
  readonly id: string;
  /** Checksummed. */
  readonly address: string;
  /** The display name that the person chose. Nothing proves it, unlike the verified address. */
  readonly name: string | null;
  readonly email: string | null;
  readonly emailVerifiedAt: Date | null;
  /**
   * Until this time, codes that are mailed to the address approve nothing, because the address was
   * set with a recovery code. Null when it was set with another proof.
   */
  readonly emailHeldUntil: Date | null;
  /**
   * The chain whose contract signs for the person; null for a plain account, which is the same on
   * every chain.
   */
  readonly contractChainId: number | null;
  readonly createdAt: Date;
}

export const parseUser = (row: User): User => ({
  id: row.id,
  address: row.address,
  name: row.name,
  email: row.email,
  emailVerifiedAt: row.emailVerifiedAt,
  emailHeldUntil: row.emailHeldUntil,
  contractChainId: row.contractChainId,
  createdAt: row.createdAt,
});

export type SessionKind = "api" | "browser";

export interface Session {
  readonly id: string;
  readonly userId: string;
  readonly kind: SessionKind;
  /** Time of the proof that began the session. */
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly userAgent: string | null;
  /** IP address of the sign-in; null when unknown. */
  readonly clientAddress: string | null;
  /** Rounded to the minute; null when the session was not used since it began. */
  readonly lastUsedAt: Date | null;
}

export const parseSession = (
  row: Omit<Session, "kind"> & { readonly kind: string },
): Session => ({
  id: row.id,
  userId: row.userId,
  kind: row.kind === "browser" ? "browser" : "api",
  createdAt: row.createdAt,
  expiresAt: row.expiresAt,
  revokedAt: row.revokedAt,
  userAgent: row.userAgent,
  clientAddress: row.clientAddress,
  lastUsedAt: row.lastUsedAt,
});

/** A public key for ES256 (RFC 7518). */
export const publicJwk = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: z.string(),
  y: z.string(),
});

export type PublicJwk = z.output<typeof publicJwk>;

export interface TokenKey {
  readonly kid: string;
  readonly publicJwk: PublicJwk;
  /** The private part (PKCS #8), encrypted under a key-encryption key. */
  readonly sealed: Sealed;
  readonly createdAt: Date;
}

interface TokenKeyColumns {
  readonly kid: string;
  readonly publicJwk: unknown;
  readonly privateEncrypted: Uint8Array;
  readonly kekId: string;
  readonly createdAt: Date;
}

/** @throws ZodError when the stored public key is not for ES256 */
export const parseTokenKey = (row: TokenKeyColumns): TokenKey => ({
  kid: row.kid,
  publicJwk: publicJwk.parse(row.publicJwk),
  sealed: { kekId: row.kekId, bytes: row.privateEncrypted },
  createdAt: row.createdAt,
});
