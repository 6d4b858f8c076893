import type { Queryable } from "@/lib/db/client";
import { parseEmailCode, type EmailCode } from "./email-code";

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
  return row === null ? null : parseEmailCode(row);
};

/** Closes a code whose mail was not sent, so that the next one need not wait. Its approval stays. */
export const closeUndelivered = async (
  db: Queryable,
  { id, createdAt }: Pick<EmailCode, "id" | "createdAt">,
): Promise<void> => {
  await db.emailCode.updateMany({ where: { id, closedAt: null }, data: { closedAt: createdAt, expiresAt: createdAt } });
};

/** Counts a guess in one statement, so that of any number of concurrent guesses at most `attemptsMax` get true. */
export const countGuess = async (
  db: Queryable,
  { id, attemptsMax, now }: { id: string; attemptsMax: number; now: Date },
): Promise<boolean> => {
  const where = { id, closedAt: null, attempts: { lt: attemptsMax }, expiresAt: { gt: now } };
  const { count } = await db.emailCode.updateMany({ where, data: { attempts: { increment: 1 } } });
  return count === 1;
};

/** Marks the code as used. Of any number of concurrent callers one gets true. */
export const closeEmailCode = async (db: Queryable, id: string, now: Date): Promise<boolean> => {
  const { count } = await db.emailCode.updateMany({ where: { id, closedAt: null }, data: { closedAt: now } });
  return count === 1;
};
