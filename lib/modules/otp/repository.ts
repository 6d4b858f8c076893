import type { Database, Queryable } from "@/lib/db/client";
import type { Otp } from "@/lib/db/generated/client";

export const OTP_ATTEMPTS_MAX = 5;

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

  /** Puts a new code in the place of the open one. Of two at the same time one wins: the other gets null. */
  replace: (next: NewOtp): Promise<OtpRow | null> =>
    database.transaction(async (tx) => {
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`otp:${next.subjectId}`}, 0))`;
      const open = await tx.otp.findFirst({ where: { subjectId: next.subjectId, closedAt: null } });
      if (open !== null && open.resendAfter > next.createdAt) return null;
      if (open !== null) await close(tx, open.id, next.createdAt, "replaced");
      return tx.otp.create({ data: next });
    }),

  /**
   * Counts one guess against the open code and returns it, or null when no code is open or its guesses are used up. The
   * count is one statement, so that of 200 guesses at once five are evaluated.
   */
  countGuess: async (subjectId: string, now: Date): Promise<OtpRow | null> => {
    const rows = await database.prisma.$queryRaw<{ id: string; attempts: number }[]>`
      UPDATE otp SET attempts = attempts + 1
      WHERE subject_id = ${subjectId} AND closed_at IS NULL AND attempts < ${OTP_ATTEMPTS_MAX} AND created_at <= ${now}
      RETURNING id, attempts`;
    const counted = rows[0];
    if (counted === undefined) return null;
    // The number of this very guess, not of later ones that came in between.
    const otp = await database.prisma.otp.findUniqueOrThrow({ where: { id: counted.id } });
    return { ...otp, attempts: counted.attempts };
  },

  /** False when it was closed already: a code is good once. */
  close: (id: string, now: Date, as: string): Promise<boolean> => close(database.prisma, id, now, as),
});

const close = async (db: Queryable, id: string, now: Date, as: string): Promise<boolean> => {
  const { count } = await db.otp.updateMany({ where: { id, closedAt: null }, data: { closedAt: now, closedAs: as } });
  return count === 1;
};

export type OtpRepository = ReturnType<typeof createOtpRepository>;
