import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/db/client";
import {
  quoted,
  type ApprovalsService,
  type Approved,
  type Change,
  type GivenApproval,
} from "@/lib/modules/approvals/service";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import type { CodeLimits } from "@/lib/modules/code-limits/service";
import { maskEmail } from "@/lib/modules/mail/service";
import type { Secrets } from "@/lib/modules/encryption/service";
import type { Mailer } from "@/lib/ports/mail";
import {
  closeEmailCode,
  countGuess,
  closeUndelivered,
  latestEmailCode,
  replaceEmailCode,
} from "./email-code-repository";
import { wasDelivered, type EmailCode } from "./email-code";
import { changedText, codeText } from "./email-texts";
import { findUser, lockUser, setUserEmail } from "./repository";
import type { User } from "./user";

export interface Verification {
  /** Masked: `a•••@example.com`. */
  readonly destination: string;
  readonly expiresAt: Date;
  readonly resendAfter: Date;
}

export interface EmailVerification {
  /**
   * Mails a code to the address. It becomes the person's once the code is verified; until then a verified one stays in use. One-time
   * codes approve payments, so replacing a verified address needs an approval: a code that went to the old address, or a signature.
   * @throws DomainError `approval_required` and what else `requireApproval` throws, `rate_limited` within 60 s of the last code or
   *   beyond the limits of code-limits, `provider_error` when the mail could not be sent
   */
  request(actor: UserActor, email: string, given: GivenApproval | undefined): Promise<Verification>;
  /** @throws DomainError `otp_invalid`, `otp_expired`, `otp_attempts_exceeded` */
  verify(actor: UserActor, code: string): Promise<void>;
}

interface EmailDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly mail: Mailer;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly codeLimits: CodeLimits;
  readonly clock: Clock;
}

const PURPOSE = "email-code";
const CODE_SECONDS = 300;
const RESEND_SECONDS = 60;
const ATTEMPTS_MAX = 5;

const expired = (): DomainError =>
  new DomainError("otp_expired", "There is no code that could be verified: it expired or was used. Ask for a new one.");

const exceeded = (): DomainError =>
  new DomainError("otp_attempts_exceeded", "Too many wrong codes. Ask for a new one.", {
    retryAfterSeconds: RESEND_SECONDS,
  });

const replacesVerified = (user: User | null, email: string): boolean =>
  user !== null && user.emailVerifiedAt !== null && user.email !== email;

/** Whether the approval of this code also allows another mail of it. */
const covers = (code: EmailCode, email: string, now: Date): boolean =>
  code.email === email && code.approvedUntil !== null && code.approvedUntil > now;

const replacementOf = (user: User | null, email: string): Change => ({
  kind: "email.replace",
  title: "Replace the e-mail address that one-time codes go to",
  lines: [`New address: ${quoted(email)}`, `Address of now: ${maskEmail(user?.email ?? "")}`],
  values: { from: user?.email ?? null, to: email },
});

const changedMeanwhile = (): DomainError =>
  new DomainError("invalid_state", "The e-mail address was changed meanwhile. Nothing was sent; try again.");

const checkResend = (latest: EmailCode, now: Date): void => {
  if (!wasDelivered(latest)) return;
  const waitMs = addSeconds(latest.createdAt, RESEND_SECONDS).getTime() - now.getTime();
  if (waitMs <= 0) return;
  const retryAfterSeconds = Math.ceil(waitMs / 1000);
  const message = `A code was mailed a moment ago. Ask for another one in ${retryAfterSeconds} s.`;
  throw new DomainError("rate_limited", message, { retryAfterSeconds });
};

const refusal = async (database: Database, userId: string, now: Date): Promise<DomainError> => {
  const code = await latestEmailCode(database.prisma, userId);
  const spent = code !== null && code.closedAt === null && code.expiresAt > now && code.attempts >= ATTEMPTS_MAX;
  return spent ? exceeded() : expired();
};

/** Requires an approval. Null when no verified address is replaced, or when the approval of the open code covers another mail. */
const approve = async (deps: EmailDeps, actor: UserActor, email: string, given: GivenApproval | undefined) => {
  const user = await findUser(deps.database.prisma, actor.userId);
  if (!replacesVerified(user, email)) return null;
  const latest = await latestEmailCode(deps.database.prisma, actor.userId);
  if (latest !== null && covers(latest, email, deps.clock.now())) return null;
  // This check comes before the approval uses up a code, so that a caller who asks too soon keeps it.
  if (latest !== null) checkResend(latest, deps.clock.now());
  return deps.approvals.requireApproval(actor, replacementOf(user, email), given);
};

const store = (
  deps: EmailDeps,
  actor: UserActor,
  { email, code, approved }: { email: string; code: string; approved: Approved | null },
) =>
  deps.database.transaction(async (tx) => {
    const { userId } = actor;
    // The lock makes requests of one person follow each other, so that two at once do not both find that none was sent.
    const user = await lockUser(tx, userId);
    const createdAt = deps.clock.now();
    const latest = await latestEmailCode(tx, userId);
    const replaces = replacesVerified(user, email);
    const earlier = replaces && latest !== null && covers(latest, email, createdAt) ? latest : null;
    // An address may have been verified since it was looked at.
    if (replaces && approved === null && earlier === null) throw changedMeanwhile();
    if (latest) checkResend(latest, createdAt);
    await approved?.consume(tx);
    const id = newId("otp");
    const verified = user?.emailVerifiedAt !== null && user?.email === email;
    const counted = { id, at: createdAt, actor, email, verified };
    await deps.codeLimits.countCode(tx, counted);
    const expiresAt = addSeconds(createdAt, CODE_SECONDS);
    const approval = {
      approvalId: approved?.approvalId ?? earlier?.approvalId ?? null,
      approvedUntil: approved?.expiresAt ?? earlier?.approvedUntil ?? null,
    };
    await replaceEmailCode(tx, {
      id,
      userId,
      email,
      codeHash: deps.secrets.hash(PURPOSE, `${id}:${code}`),
      createdAt,
      expiresAt,
      ...approval,
    });
    if (user?.emailVerifiedAt === null) await setUserEmail(tx, { userId, email, emailVerifiedAt: null });
    if (approved !== null) {
      const entry = { ...doneBy(actor), subject: userId, at: createdAt };
      const data = { email: maskEmail(email), ...approved.record };
      await recordAudit(tx, { ...entry, action: "email.change_approved", data });
    }
    return { counted, expiresAt, resendAfter: addSeconds(createdAt, RESEND_SECONDS) };
  });

const request = async (
  deps: EmailDeps,
  actor: UserActor,
  { address, given }: { readonly address: string; readonly given: GivenApproval | undefined },
): Promise<Verification> => {
  const email = address.toLowerCase();
  const approved = await approve(deps, actor, email, given);
  const code = deps.secrets.code();
  const { counted, ...times } = await store(deps, actor, { email, code, approved });
  try {
    await deps.mail.send({ to: email, subject: "Confirm your e-mail address", text: codeText(code), code });
  } catch (error) {
    await deps.database.transaction(async (tx) => {
      await closeUndelivered(tx, { id: counted.id, createdAt: counted.at });
      await deps.codeLimits.withdraw(tx, counted);
    });
    throw error;
  }
  return { destination: maskEmail(email), ...times };
};

const notify = async (deps: EmailDeps, to: string, email: string): Promise<void> => {
  try {
    await deps.mail.send({ to, subject: "Your e-mail address was changed", text: changedText(email) });
  } catch {
    // The change is made and recorded; that the notice could not be sent must not make it look as if it had failed.
  }
};

const accept = async (deps: EmailDeps, actor: UserActor, code: EmailCode): Promise<void> => {
  const { userId, email } = code;
  const at = deps.clock.now();
  const accepted = await deps.database.transaction(async (tx) => {
    // The lock comes first, as in `store`: the two never wait for each other.
    const before = await lockUser(tx, userId);
    if (replacesVerified(before, email) && code.approvalId === null) return null;
    if (!(await closeEmailCode(tx, code.id, at))) return null;
    await setUserEmail(tx, { userId, email, emailVerifiedAt: at });
    const entry = { ...doneBy(actor), projectId: null, subject: userId, at };
    const data = { email: maskEmail(email), approvalId: code.approvalId };
    await recordAudit(tx, { ...entry, action: "email.verified", data });
    return { replaced: before?.emailVerifiedAt ? before.email : null };
  });
  if (!accepted) throw expired();
  if (accepted.replaced !== null && accepted.replaced !== email) await notify(deps, accepted.replaced, email);
};

/** Verification of e-mail addresses by a mailed code of six digits, which is good for five minutes and five guesses. */
export const createEmailVerification = (deps: EmailDeps): EmailVerification => {
  const { database, secrets, clock } = deps;
  return {
    request: (actor, address, given) => request(deps, actor, { address, given }),
    verify: async (actor, guess) => {
      const { userId } = actor;
      const code = await latestEmailCode(database.prisma, userId);
      if (!code) throw expired();
      const now = clock.now();
      if (!(await countGuess(database.prisma, { id: code.id, attemptsMax: ATTEMPTS_MAX, now })))
        throw await refusal(database, userId, now);
      if (secrets.matches(PURPOSE, `${code.id}:${guess}`, code.codeHash)) return accept(deps, actor, code);
      throw new DomainError(
        "otp_invalid",
        "This is not the code that was mailed. The address is not verified yet; type the newest code, or ask for another.",
        {
          details: [{ path: "code", message: "is not the code that was mailed" }],
        },
      );
    },
  };
};
