import { addSeconds, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/db/client";
import { recordAudit } from "@/lib/modules/audit/service";
import { maskEmail } from "@/lib/modules/mail/service";
import type { Secrets } from "@/lib/modules/secrets/service";
import type { Mailer } from "@/lib/ports/mail";
import {
  closeEmailCode,
  countGuess,
  deleteEmailCode,
  latestEmailCode,
  replaceEmailCode,
  type EmailCode,
} from "./email-code-repository";
import { findSession, findUser, lockUser, setUserEmail } from "./repository";

export interface Verification {
  /** Masked: `a•••@example.com`. */
  readonly destination: string;
  readonly expiresAt: Date;
  readonly resendAfter: Date;
}

export interface EmailVerification {
  /**
   * Mails a code to the address. It becomes the person's once the code is verified; until then a verified one stays in use. One-time
   * codes approve payments, so turning them away from a verified address takes a wallet signature of the last few minutes: a
   * stolen token is not enough.
   * @throws DomainError `forbidden` when the session is too old for that, `rate_limited` within 60 s of the last code,
   *   `provider_error` when the mail could not be sent
   */
  request(person: { readonly userId: string; readonly sessionId: string }, email: string): Promise<Verification>;
  /** @throws DomainError `otp_invalid`, `otp_expired`, `otp_attempts_exceeded` */
  verify(userId: string, code: string): Promise<void>;
}

interface EmailDeps {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly mail: Mailer;
  readonly clock: Clock;
}

const CODE_SECONDS = 300;
const RESEND_SECONDS = 60;
const ATTEMPTS_MAX = 5;
const FRESH_SIGN_IN_SECONDS = 300;

const expired = (): DomainError =>
  new DomainError("otp_expired", "There is no code that could be verified: it expired or was used. Ask for a new one.");

const exceeded = (): DomainError =>
  new DomainError("otp_attempts_exceeded", "Too many wrong codes. Ask for a new one.", {
    retryAfterSeconds: RESEND_SECONDS,
  });

export const createEmailVerification = (deps: EmailDeps): EmailVerification => {
  const { database, secrets, clock } = deps;
  const hashOf = (id: string, code: string): Buffer => secrets.hash("email-code", `${id}:${code}`);

  const checkFresh = async (tx: Tx, sessionId: string, now: Date): Promise<void> => {
    const session = await findSession(tx, sessionId);
    if (session && addSeconds(session.createdAt, FRESH_SIGN_IN_SECONDS) > now) return;
    throw new DomainError(
      "forbidden",
      "To change a verified e-mail address, sign out and sign in with your wallet again; then change it within five minutes.",
    );
  };

  const store = ({ userId, sessionId }: { userId: string; sessionId: string }, email: string, code: string) =>
    database.transaction(async (tx) => {
      // The lock makes requests of one person follow each other, so that two at once do not both find that none was sent.
      const user = await lockUser(tx, userId);
      const createdAt = clock.now();
      if (user?.emailVerifiedAt && user.email !== email) await checkFresh(tx, sessionId, createdAt);
      const latest = await latestEmailCode(tx, userId);
      if (latest) checkResend(latest, createdAt);
      const id = newId("otp");
      const expiresAt = addSeconds(createdAt, CODE_SECONDS);
      await replaceEmailCode(tx, { id, userId, email, codeHash: hashOf(id, code), createdAt, expiresAt });
      if (user?.emailVerifiedAt === null) await setUserEmail(tx, { userId, email, emailVerifiedAt: null });
      return { id, expiresAt, resendAfter: addSeconds(createdAt, RESEND_SECONDS) };
    });

  const request = async (person: { userId: string; sessionId: string }, address: string): Promise<Verification> => {
    const email = address.toLowerCase();
    const code = secrets.code();
    const { id, ...times } = await store(person, email, code);
    try {
      await deps.mail.send({ to: email, subject: "Confirm your e-mail address", text: codeText(code), code });
    } catch (error) {
      await deleteEmailCode(database.prisma, id);
      throw error;
    }
    return { destination: maskEmail(email), ...times };
  };

  const accept = async (code: EmailCode): Promise<void> => {
    const { userId, email } = code;
    const at = clock.now();
    const accepted = await database.transaction(async (tx) => {
      if (!(await closeEmailCode(tx, code.id, at))) return null;
      const before = await findUser(tx, userId);
      await setUserEmail(tx, { userId, email, emailVerifiedAt: at });
      const entry = { projectId: null, actor: userId, subject: userId, at };
      await recordAudit(tx, { ...entry, action: "email.verified", data: { email: maskEmail(email) } });
      return { replaced: before?.emailVerifiedAt ? before.email : null };
    });
    if (!accepted) throw expired();
    if (accepted.replaced !== null && accepted.replaced !== email) await notify(accepted.replaced, email);
  };

  const notify = async (to: string, email: string): Promise<void> => {
    try {
      await deps.mail.send({ to, subject: "Your e-mail address was changed", text: changedText(email) });
    } catch {
      // The change is made and recorded; that the notice could not be sent must not make it look as if it had failed.
    }
  };

  return {
    request,
    verify: async (userId, guess) => {
      const code = await latestEmailCode(database.prisma, userId);
      if (!code) throw expired();
      const now = clock.now();
      if (!(await countGuess(database.prisma, { id: code.id, attemptsMax: ATTEMPTS_MAX, now })))
        throw await refusal(database, userId, now);
      if (secrets.equals(code.codeHash, hashOf(code.id, guess))) return accept(code);
      throw new DomainError("otp_invalid", "This is not the code that was mailed.", {
        details: [{ path: "code", message: "is not the code that was mailed" }],
      });
    },
  };
};

const checkResend = (latest: EmailCode, now: Date): void => {
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

const codeText = (code: string): string =>
  [
    `Your code is ${code}`,
    "",
    "Enter it in Causeway to confirm this e-mail address. It is good for 5 minutes.",
    "From then on the codes that approve payments of your projects are sent here.",
    "",
    "If you did not ask for it, do nothing: nothing changes.",
  ].join("\n");

const changedText = (email: string): string =>
  [
    `The e-mail address of your Causeway account is now ${maskEmail(email)}.`,
    "Codes that approve payments no longer come to this address.",
    "",
    "If this was not you, end the session and tell the operator of your Causeway at once.",
  ].join("\n");
