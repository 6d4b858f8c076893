import type { Database, Queryable, Tx } from "@/lib/db/client";
import type { Otp } from "@/lib/db/generated/client";

const OTP_ATTEMPTS_MAX = 5;
/** Over everything that a person is asked to approve, within an hour. */
const HOUR_MS = 3_600_000;
const CODES_PER_HOUR_MAX = 60;
const WRONG_PER_HOUR_MAX = 20;

export type OtpRow = Otp;

export interface NewOtp {
  id: string;
  projectId: string;
  userId: string;
  subjectId: string;
  digest: Uint8Array<ArrayBuffer>;
  channel: string;
  destination: string;
  codeHash: Uint8Array<ArrayBuffer>;
  createdAt: Date;
  expiresAt: Date;
  resendAfter: Date;
}

export const createOtpRepository = (database: Database) => ({
  latest: (subjectId: string): Promise<OtpRow | null> =>
    database.prisma.otp.findFirst({ where: { subjectId }, orderBy: { createdAt: "desc" } }),

  /**
   * Puts a new code in the place of the open one. Of two at the same time one wins: the other gets null. `fullUntil`: the person got
   * as many codes as one may within an hour.
   */
  replace: (next: NewOtp): Promise<OtpRow | null | { readonly fullUntil: Date }> =>
    database.transaction(async (tx) => {
      await lock(tx, `otp:${next.subjectId}`);
      const open = await tx.otp.findFirst({ where: { subjectId: next.subjectId, closedAt: null } });
      if (open !== null && open.resendAfter > next.createdAt) return null;
      await lock(tx, `otp-of:${next.userId}`);
      const sent = await sentWithinHour(tx, next.userId, next.createdAt);
      if (sent.count >= CODES_PER_HOUR_MAX) return { fullUntil: hourAfter(sent.first) };
      if (open !== null) await close(tx, open.id, next.createdAt, "replaced");
      return tx.otp.create({ data: next });
    }),

  /**
   * Counts one guess against the open code, and says what it was worth. All guesses of a person are counted one after another, so that
   * of 200 at once five are evaluated, and of any number over many codes as many as a person has within an hour.
   */
  guess: (guess: { subjectId: string; now: Date; isRight: (otp: OtpRow) => boolean }): Promise<Guessed> =>
    database.transaction(async (tx) => {
      const { subjectId, now } = guess;
      const usable = { closedAt: null, attempts: { lt: OTP_ATTEMPTS_MAX } };
      const open = await tx.otp.findFirst({ where: { subjectId, createdAt: { lte: now }, ...usable } });
      if (open === null) return { as: "no_code" };
      await lock(tx, `otp-of:${open.userId}`);
      const wrong = await wrongWithinHour(tx, open.userId, now);
      if (wrong.count >= WRONG_PER_HOUR_MAX) return { as: "too_many", until: hourAfter(wrong.first) };
      const where = { id: open.id, ...usable };
      const { count } = await tx.otp.updateMany({ where, data: { attempts: { increment: 1 } } });
      if (count === 0) return { as: "no_code" };
      const otp = await tx.otp.findUniqueOrThrow({ where: { id: open.id } });
      if (otp.expiresAt <= now) return closing(tx, otp.id, now, { as: "expired" });
      if (guess.isRight(otp)) return closing(tx, otp.id, now, { as: "consumed" });
      const left = OTP_ATTEMPTS_MAX - otp.attempts;
      if (left <= 0) await close(tx, otp.id, now, "attempts");
      return { as: "wrong", left: Math.max(0, left) };
    }),

  /** False when it was closed already: a code is good once. */
  close: (id: string, now: Date, as: string): Promise<boolean> => close(database.prisma, id, now, as),
});

/** What became of a guess. `until`: when the person may guess again. */
export type Guessed =
  | { readonly as: "no_code" | "expired" | "consumed" }
  | { readonly as: "too_many"; readonly until: Date }
  | { readonly as: "wrong"; readonly left: number };

const lock = (tx: Tx, name: string): Promise<number> =>
  tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;

interface Counted {
  readonly count: number;
  /** Null where there is none. */
  readonly first: Date | null;
}

const hourBefore = (now: Date): Date => new Date(now.getTime() - HOUR_MS);
const hourAfter = (first: Date | null): Date => new Date((first?.getTime() ?? 0) + HOUR_MS);

const sentWithinHour = async (tx: Tx, userId: string, now: Date): Promise<Counted> => {
  const [row] = await tx.$queryRaw<Counted[]>`
    SELECT count(*)::int AS count, min(created_at) AS first FROM otp
    WHERE user_id = ${userId} AND created_at > ${hourBefore(now)} AND closed_as IS DISTINCT FROM 'undelivered'`;
  return row ?? { count: 0, first: null };
};

/** A code lives for minutes, so the hour is that of the codes. */
const wrongWithinHour = async (tx: Tx, userId: string, now: Date): Promise<Counted> => {
  const [row] = await tx.$queryRaw<Counted[]>`
    SELECT coalesce(sum(wrong), 0)::int AS count, min(created_at) AS first
    FROM (
      SELECT created_at, attempts - CASE WHEN closed_as = 'consumed' THEN 1 ELSE 0 END AS wrong FROM otp
      WHERE user_id = ${userId} AND created_at > ${hourBefore(now)}
    ) AS guessed
    WHERE wrong > 0`;
  return row ?? { count: 0, first: null };
};

const closing = async <G extends { readonly as: string }>(tx: Tx, id: string, now: Date, guessed: G): Promise<G> => {
  await close(tx, id, now, guessed.as);
  return guessed;
};

const close = async (db: Queryable, id: string, now: Date, as: string): Promise<boolean> => {
  const { count } = await db.otp.updateMany({ where: { id, closedAt: null }, data: { closedAt: now, closedAs: as } });
  return count === 1;
};

export type OtpRepository = ReturnType<typeof createOtpRepository>;
