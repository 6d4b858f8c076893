import type { Queryable } from "@/lib/db/client";
import type { EmailCode as EmailCodeRow } from "@/lib/db/generated/client";

export interface EmailCode {
  readonly id: string;
  readonly userId: string;
  readonly email: string;
  readonly codeHash: Uint8Array;
  readonly attempts: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly closedAt: Date | null;
  /** The approval that lets the address replace a verified one, and until when its code may be mailed again. */
  readonly approvalId: string | null;
  readonly approvedUntil: Date | null;
}

const toEmailCode = (row: EmailCodeRow): EmailCode => ({
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

/** Stores a code and closes the person's earlier ones. */
export const replaceEmailCode = async (
  db: Queryable,
  code: Omit<EmailCode, "attempts" | "closedAt">,
): Promise<void> => {
  const { userId, createdAt } = code;
  await db.emailCode.updateMany({ where: { userId, closedAt: null }, data: { closedAt: createdAt } });
  await db.emailCode.create({ data: { ...code, codeHash: Uint8Array.from(code.codeHash) } });
};

export const latestEmailCode = async (db: Queryable, userId: string): Promise<EmailCode | null> => {
  const row = await db.emailCode.findFirst({ where: { userId }, orderBy: [{ createdAt: "desc" }, { id: "desc" }] });
  return row === null ? null : toEmailCode(row);
};

/** A code that was never sent is good for no time, so that the next one need not wait; what approved it stays. */
export const closeUndelivered = async (
  db: Queryable,
  { id, createdAt }: Pick<EmailCode, "id" | "createdAt">,
): Promise<void> => {
  await db.emailCode.updateMany({ where: { id, closedAt: null }, data: { closedAt: createdAt, expiresAt: createdAt } });
};

export const wasDelivered = ({ expiresAt, createdAt }: EmailCode): boolean => expiresAt > createdAt;

/** Counts a guess, one statement: of any number at once no more than `attemptsMax` are let through. */
export const countGuess = async (
  db: Queryable,
  { id, attemptsMax, now }: { id: string; attemptsMax: number; now: Date },
): Promise<boolean> => {
  const where = { id, closedAt: null, attempts: { lt: attemptsMax }, expiresAt: { gt: now } };
  const { count } = await db.emailCode.updateMany({ where, data: { attempts: { increment: 1 } } });
  return count === 1;
};

/** Uses the code up. Of any number of callers at once, one gets true. */
export const closeEmailCode = async (db: Queryable, id: string, now: Date): Promise<boolean> => {
  const { count } = await db.emailCode.updateMany({ where: { id, closedAt: null }, data: { closedAt: now } });
  return count === 1;
};
