import { type Actor, actorName } from "@/lib/core/actor";
import type { Database, Queryable, Tx } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import type { Otp, Prisma } from "@/lib/platform/db/generated/client";
import type { CodeLimits } from "./code-limits";

const OTP_ATTEMPTS_MAX = 5;

export type OtpRow = Otp;

export interface NewOtp {
  id: string;
  projectId: string;
  userId: string;
  requestedBy: string;
  subjectId: string;
  digest: Uint8Array<ArrayBuffer>;
  channel: string;
  destination: string;
  codeHash: Uint8Array<ArrayBuffer>;
  createdAt: Date;
  expiresAt: Date;
  resendAfter: Date;
}

export interface Guess {
  readonly actor: Actor;
  readonly subjectId: string;
  readonly id: string;
  readonly now: Date;
  readonly isRight: (otp: OtpRow) => boolean;
}

/** The result of a guess. `until`: the time from which the guesser may guess again. */
export type Guessed =
  | { readonly as: "no_code" | "expired" }
  | { readonly as: "consumed"; readonly otpId: string }
  | { readonly as: "too_many"; readonly until: Date }
  | { readonly as: "wrong"; readonly left: number };

export const createOtpRepository = (database: Database, limits: CodeLimits) => ({
  /**
   * The newest code for the subject, open or closed, that the actor may use; null when there is
   * none.
   */
  latestFor: (actor: Actor, subjectId: string): Promise<OtpRow | null> =>
    database.prisma.otp.findFirst({
      where: usableBy(actor, subjectId),
      orderBy: { createdAt: "desc" },
    }),

  /**
   * Replaces the requester's open code by a new one. Of two concurrent calls only one succeeds.
   * @throws DomainError `rate_limited`, with the time until the next code may be requested
   */
  replace: (
    next: NewOtp,
    actor: Actor,
  ): Promise<
    { readonly stored: OtpRow } | { readonly stored: null; readonly resendAfter: Date }
  > =>
    database.transaction(async (tx) => {
      const { projectId, subjectId, requestedBy, createdAt } = next;
      await lock(tx, `otp:${subjectId}:${requestedBy}`);
      const open = await tx.otp.findFirst({
        where: { projectId, subjectId, requestedBy, closedAt: null },
      });
      if (open !== null && open.resendAfter > createdAt)
        return { stored: null, resendAfter: open.resendAfter };
      await limits.countCode(tx, codeToMail(next, actor));
      if (open !== null) await close(tx, open.id, createdAt, "replaced");
      return { stored: await tx.otp.create({ data: next }) };
    }),

  /** Closes a code that could not be mailed, so that it no longer counts towards the limits. */
  withdraw: (otp: OtpRow, actor: Actor, now: Date): Promise<void> =>
    database.transaction(async (tx) => {
      await close(tx, otp.id, now, "undelivered");
      await limits.withdraw(tx, codeToMail(otp, actor));
    }),

  /**
   * Evaluates one guess against the open codes that the guesser may use. Guesses of one guesser are
   * counted one after another, and each evaluation first takes one of the code's five attempts. So
   * of 200 concurrent guesses five are evaluated, on any number of instances.
   */
  guess: (guess: Guess): Promise<Guessed> =>
    database.transaction(async (tx) => {
      const { now, id } = guess;
      const guesser = actorName(guess.actor);
      const until = await limits.lockGuesses(tx, guesser, now);
      const codes = await openCodes(tx, guess);
      if (codes.length === 0) return { as: "no_code" };
      if (until !== null) return { as: "too_many", until };
      const evaluated: OtpRow[] = [];
      for (const { id: otpId } of codes) {
        const otp = await takeAttempt(tx, otpId);
        if (otp === null) continue;
        if (otp.expiresAt <= now) await close(tx, otp.id, now, "expired");
        else if (!guess.isRight(otp)) evaluated.push(otp);
        else {
          await close(tx, otp.id, now, "consumed");
          return { as: "consumed", otpId: otp.id };
        }
      }
      if (evaluated.length === 0)
        return { as: codes.some(({ expiresAt }) => expiresAt <= now) ? "expired" : "no_code" };
      await limits.countWrongGuess(tx, guesser, { id, at: now });
      for (const { id: otpId, attempts } of evaluated)
        if (attempts >= OTP_ATTEMPTS_MAX) await close(tx, otpId, now, "attempts");
      return {
        as: "wrong",
        left: Math.max(...evaluated.map(({ attempts }) => OTP_ATTEMPTS_MAX - attempts)),
      };
    }),
});

/**
 * The codes that an actor may use. A person may use every code that was mailed to them, even if
 * somebody else requested it. An API key may use only codes that it requested itself, so its
 * guesses use no attempts of other codes.
 */
const usableBy = (actor: Actor, subjectId: string): Prisma.OtpWhereInput => ({
  projectId: actor.projectId,
  subjectId,
  ...(actor.type === "user" ? { userId: actor.userId } : { requestedBy: actor.keyId }),
});

/**
 * The guesser's own code and the newest code that another actor requested. A guess is therefore
 * compared with at most two codes.
 */
const openCodes = async (tx: Tx, { actor, subjectId }: Guess): Promise<OtpRow[]> => {
  const rows = await tx.otp.findMany({
    where: { ...usableBy(actor, subjectId), ...USABLE },
    orderBy: { createdAt: "desc" },
  });
  const own = rows.find(({ requestedBy }) => requestedBy === actorName(actor));
  const other = rows.find(({ requestedBy }) => requestedBy !== actorName(actor));
  return [own, other].filter((row) => row !== undefined);
};

const USABLE = { closedAt: null, attempts: { lt: OTP_ATTEMPTS_MAX } };

/**
 * Takes one attempt of the code. Returns null when the code was closed, or its last attempt was
 * taken, since it was read.
 */
const takeAttempt = async (tx: Tx, id: string): Promise<OtpRow | null> => {
  const [otp] = await tx.otp.updateManyAndReturn({
    where: { id, ...USABLE },
    data: { attempts: { increment: 1 } },
  });
  return otp ?? null;
};

const codeToMail = ({ id, createdAt, destination }: NewOtp | OtpRow, actor: Actor) =>
  ({ id, at: createdAt, actor, email: destination, verified: true }) as const;

const lock = (tx: Tx, name: string): Promise<number> =>
  sqlOf(tx).change(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);

const close = async (db: Queryable, id: string, now: Date, as: string): Promise<void> => {
  await db.otp.updateMany({
    where: { id, closedAt: null },
    data: { closedAt: now, closedAs: as },
  });
};

export type OtpRepository = ReturnType<typeof createOtpRepository>;
