export type SessionKind = "api" | "browser";

export interface Session {
  readonly id: string;
  readonly userId: string;
  /** Time of the wallet signature that began the session. */
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
}

/** Selects the fields of a row of the table `session`. */
export const parseSession = ({ id, userId, createdAt, expiresAt, revokedAt }: Session): Session => ({
  id,
  userId,
  createdAt,
  expiresAt,
  revokedAt,
});
