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
  /** IP address of the sign-in; null when it is not known. */
  readonly clientAddress: string | null;
  /** To the minute; null when the session was not used since it began. */
  readonly lastUsedAt: Date | null;
}

/** Selects the fields of a row of the table `session`. */
export const parseSession = (row: Omit<Session, "kind"> & { readonly kind: string }): Session => ({
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
