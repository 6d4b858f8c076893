export interface EmailCode {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly codeHash: Uint8Array;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly closedAt: Date | null;
  /** The approval that allows the address to replace a verified one. */
  readonly approvalId: string | null;
  /** Until then the code may be mailed again under the same approval. */
  readonly approvedUntil: Date | null;
}

/** Selects the fields of a row of the table `email_code`. */
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
  approvedUntil: row.approvedUntil,
});

/** A code whose mail failed has no lifetime. */
export const wasDelivered = ({ expiresAt, createdAt }: EmailCode): boolean => expiresAt > createdAt;
