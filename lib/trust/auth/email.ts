import { maskEmail } from "@/lib/news/mail/service";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock, secondsUntil } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import {
  type ApprovalsService,
  type Approved,
  type Change,
  type GivenApproval,
  heldUntil,
  quoted,
} from "@/lib/trust/proofs/service";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { CodeLimits } from "@/lib/trust/proofs/service";
import type { Secrets } from "@/lib/platform/encryption/service";
import { lockVoting } from "@/lib/trust/decisions/service";
import { checkVotersLeft } from "@/lib/trust/policies/service";
import type { Mailer } from "@/lib/platform/ports/mail";
import {
  closeEmailCode,
  closeUndelivered,
  countGuess,
  findUser,
  latestEmailCode,
  listProjectIdsOf,
  lockUser,
  replaceEmailCode,
  setUserEmail,
} from "./repository";
import { type EmailCode, type User, wasDelivered } from "./records";

const codeText = (code: string): string =>
  [
    `Your code is ${code}`,
    "",
    "Enter it in Causeway to confirm this e-mail address. It is good for 5 minutes.",
    "From then on the codes that approve payments of your projects are sent here.",
    "",
    "If you did not ask for it, do nothing: nothing changes.",
  ].join("\n");

/** The mail to the previous address after a change. */
const changedText = (email: string): string =>
  [
    `The e-mail address of your Causeway account is now ${maskEmail(email)}.`,
    "Codes that approve payments no longer come to this address.",
    "",
    "If this was not you, end the session and tell the operator of your Causeway at once.",
  ].join("\n");

export interface Verification {
  /** Masked: `a•••@example.com`. */
  readonly destination: string;
  readonly expiresAt: Date;
  readonly resendAfter: Date;
}

interface EmailVerification {
  /**
   * Mails a code to the address. The address becomes the person's once the code is verified; until
   * then the previous verified one stays in use. One-time codes approve payments, so any other
   * address than the verified one needs an approval. The first address is approved by a signature
   * of the sign-in wallet, a passkey, or the authenticator app, because a stolen session has none
   * of them. Two members with one mailbox count as one person, so an address is refused when too
   * few people could then vote in a project of the person.
   * @throws DomainError `invalid_state` when too few people could then vote; `approval_required`
   * and the other errors of `requireApproval`; `rate_limited` within 60 s of the last code or
   * beyond the limits of code-limits; `provider_error` when the mail could not be sent
   */
  request(
    actor: UserActor,
    email: string,
    given: GivenApproval | undefined,
  ): Promise<Verification>;
  /**
   * Checks the code that was mailed last. If it is correct, its address becomes the person's
   * verified address.
   * @throws DomainError `otp_invalid`, `otp_expired`, `otp_attempts_exceeded`; `invalid_state` as
   * in `request`
   */
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
  new DomainError(
    "otp_expired",
    "There is no code that could be verified: it expired or was used. Ask for a new one.",
  );

const exceeded = (): DomainError =>
  new DomainError("otp_attempts_exceeded", "Too many wrong codes. Ask for a new one.", {
    retryAfterSeconds: RESEND_SECONDS,
  });

/** The address to which codes are sent now; null when there is none. */
const verifiedOf = (user: User | null): string | null =>
  user?.emailVerifiedAt == null ? null : user.email;

interface Wanted {
  readonly email: string;
  readonly replaces: string | null;
}

/** Whether the approval of this code also allows mailing another code to the address. */
const covers = (code: EmailCode, { email, replaces }: Wanted, now: Date): boolean =>
  code.email === email &&
  code.replaces === replaces &&
  code.approvedUntil !== null &&
  code.approvedUntil > now;

const additionOf = (email: string): Change => ({
  kind: "email.add",
  title: "Set the e-mail address that one-time codes go to",
  lines: [
    `Address: ${quoted(email)}`,
    "Codes that go there approve payments and changes of your account from then on",
  ],
  values: { to: email },
});

const replacementOf = (from: string, email: string): Change => ({
  kind: "email.replace",
  title: "Replace the e-mail address that one-time codes go to",
  lines: [`New address: ${quoted(email)}`, `Present address: ${maskEmail(from)}`],
  values: { from, to: email },
});

const changeOf = ({ email, replaces }: Wanted): Change =>
  replaces === null ? additionOf(email) : replacementOf(replaces, email);

const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The e-mail address was changed meanwhile. Nothing was sent; try again.",
  );

const checkResend = (latest: EmailCode, now: Date): void => {
  if (!wasDelivered(latest)) return;
  const resendAfter = addSeconds(latest.createdAt, RESEND_SECONDS);
  if (resendAfter <= now) return;
  const retryAfterSeconds = secondsUntil(resendAfter, now);
  const message = `A code was mailed a moment ago. Ask for another one in ${retryAfterSeconds} s.`;
  throw new DomainError("rate_limited", message, { retryAfterSeconds });
};

const refusal = async (database: Database, userId: string, now: Date): Promise<DomainError> => {
  const code = await latestEmailCode(database.prisma, userId);
  const spent =
    code !== null &&
    code.closedAt === null &&
    code.expiresAt > now &&
    code.attempts >= ATTEMPTS_MAX;
  return spent ? exceeded() : expired();
};

/**
 * Checks that enough people could vote if the person had the new address. Members with one mailbox
 * count as one person, so a new address can reduce the number of voters.
 * @param tx with `locks`, the transaction that stores the address
 * @throws DomainError `invalid_state` when too few people could vote in one of the person's
 * projects
 */
const checkVoters = async (
  tx: Tx,
  { userId, email }: Pick<EmailCode, "userId" | "email">,
  { locks }: { readonly locks: boolean },
): Promise<void> => {
  for (const projectId of await listProjectIdsOf(tx, userId)) {
    if (locks) await lockVoting(tx, projectId);
    await checkVotersLeft(tx, projectId, { kind: "mailbox", userId, email });
  }
};

/**
 * Requires an approval. Returns null when the address is already the verified one, or when the
 * approval of the latest code also allows another mail to this address.
 */
const approve = async (
  deps: EmailDeps,
  actor: UserActor,
  email: string,
  given: GivenApproval | undefined,
) => {
  const user = await findUser(deps.database.prisma, actor.userId);
  const wanted = { email, replaces: verifiedOf(user) };
  if (wanted.replaces === email) return null;
  await checkVoters(deps.database.prisma, { userId: actor.userId, email }, { locks: false });
  const latest = await latestEmailCode(deps.database.prisma, actor.userId);
  if (latest !== null && covers(latest, wanted, deps.clock.now())) return null;
  // Checked before the approval uses a code, so that a caller who asks too soon keeps the code.
  if (latest !== null) checkResend(latest, deps.clock.now());
  return deps.approvals.requireApproval(actor, changeOf(wanted), given);
};

const store = (
  deps: EmailDeps,
  actor: UserActor,
  { email, code, approved }: { email: string; code: string; approved: Approved | null },
) =>
  deps.database.transaction(async (tx) => {
    const { userId } = actor;
    // The lock serialises requests of one person, so that two concurrent requests do not both find
    // that no code was sent.
    const user = await lockUser(tx, userId);
    const createdAt = deps.clock.now();
    const latest = await latestEmailCode(tx, userId);
    const replaces = verifiedOf(user);
    const verified = replaces === email;
    const earlier =
      !verified && latest !== null && covers(latest, { email, replaces }, createdAt)
        ? latest
        : null;
    // A concurrent request may have verified a different address after `approve` read this person.
    if (!verified && approved === null && earlier === null) throw changedMeanwhile();
    if (latest) checkResend(latest, createdAt);
    await approved?.consume(tx);
    const id = newId("otp");
    const counted = { id, at: createdAt, actor, email, verified };
    await deps.codeLimits.countCode(tx, counted);
    const expiresAt = addSeconds(createdAt, CODE_SECONDS);
    const approval = {
      approvalId: approved?.approvalId ?? earlier?.approvalId ?? null,
      approvedBy: approved?.record.approvedBy ?? earlier?.approvedBy ?? null,
      replaces,
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
    if (user?.emailVerifiedAt === null)
      await setUserEmail(tx, { userId, email, emailVerifiedAt: null, emailHeldUntil: null });
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
    await deps.mail.send({
      to: email,
      subject: "Confirm your e-mail address",
      text: codeText(code),
      code,
    });
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
    await deps.mail.send({
      to,
      subject: "Your e-mail address was changed",
      text: changedText(email),
    });
  } catch {
    // The change is made and recorded, so a notice that cannot be sent must not look like a failed
    // change.
  }
};

const accept = async (deps: EmailDeps, actor: UserActor, code: EmailCode): Promise<void> => {
  const { userId, email } = code;
  const at = deps.clock.now();
  const accepted = await deps.database.transaction(async (tx) => {
    // The lock is taken first, as in `store`, so that `store` and `accept` cannot deadlock.
    const before = await lockUser(tx, userId);
    const replaced = verifiedOf(before);
    const verified = replaced === email;
    // The approval allows replacing only the address that was verified when the code was stored.
    if (!verified && (code.approvalId === null || code.replaces !== replaced)) return null;
    if (!verified) await checkVoters(tx, code, { locks: true });
    if (!(await closeEmailCode(tx, code.id, at))) return null;
    // A repeated verification of an address does not change its hold period.
    const emailHeldUntil = verified
      ? (before?.emailHeldUntil ?? null)
      : heldUntil(code.approvedBy, at);
    await setUserEmail(tx, { userId, email, emailVerifiedAt: at, emailHeldUntil });
    const entry = { ...doneBy(actor), projectId: null, subject: userId, at };
    const data = { email: maskEmail(email), approvalId: code.approvalId };
    await recordAudit(tx, { ...entry, action: "email.verified", data });
    return { replaced };
  });
  if (!accepted) throw expired();
  if (accepted.replaced !== null && accepted.replaced !== email)
    await notify(deps, accepted.replaced, email);
};

/**
 * Verification of e-mail addresses by a mailed code of six digits, which is valid for five minutes
 * and five guesses.
 */
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
      if (secrets.matches(PURPOSE, `${code.id}:${guess}`, code.codeHash))
        return accept(deps, actor, code);
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
