import { DomainError } from "@/lib/core/errors";
import { RECOVERY_HOLD_HOURS } from "@/lib/contracts/approvable-changes";
import { secondsUntil } from "@/lib/core/clock";
import type { ChangeKind, Proof } from "@/lib/contracts/approvable-changes";
import type { Approval } from "./approvals-repository";
import { toApprovalRequest } from "./approvals-serializer";

export const noAuthenticator = (): DomainError =>
  new DomainError(
    "invalid_state",
    "You have no authenticator app. Add one in Settings, or approve with a mailed code or your wallet. Nothing was approved.",
  );

export const alreadyEnrolled = (): DomainError =>
  new DomainError(
    "invalid_state",
    "You have an authenticator app already. Remove it before you add another one.",
  );

export const notPending = (): DomainError =>
  new DomainError(
    "invalid_state",
    "No authenticator app waits for its first code: the 10 minutes are over, or it was confirmed already. Start again.",
  );

export const noPasskey = (): DomainError =>
  new DomainError(
    "invalid_state",
    "You have no passkey. Add one in Settings, or approve with a mailed code. Nothing was approved.",
  );

export const wrongPasskey = (why: string): DomainError => {
  const message = `${why} Nothing was approved.`;
  return new DomainError("invalid_signature", message, {
    details: [{ path: "passkey", message }],
  });
};

export const tooManyPasskeys = (max: number): DomainError =>
  new DomainError(
    "invalid_state",
    `You have ${String(max)} passkeys, the most that are possible. Remove one first.`,
  );

export const wrongRegistration = (): DomainError =>
  new DomainError(
    "invalid_signature",
    "The passkey was not made for this service by these options, or did not verify who you are. Nothing was added; start again.",
  );

export const registrationOver = (): DomainError =>
  new DomainError(
    "invalid_state",
    "These options were used or have expired (5 minutes). Nothing was added; start again.",
  );

/**
 * The error `otp_attempts_exceeded` for a person who may not enter codes before `until`, with the
 * remaining seconds in `retryAfterSeconds`.
 */
export const tooManyGuesses = (until: Date, now: Date): DomainError =>
  new DomainError(
    "otp_attempts_exceeded",
    "You gave too many wrong codes within an hour, so none is taken from you now. Nothing was sent; try again later.",
    { retryAfterSeconds: secondsUntil(until, now) },
  );

export const factorOnHold = (factor: string, until: Date): DomainError =>
  new DomainError(
    "forbidden",
    `${factor} was added with a recovery code. It approves nothing for ${String(RECOVERY_HOLD_HOURS)} hours, until ${until.toISOString()}. ` +
      "Nothing was approved and nothing moved. Approve with another factor or with the wallet you sign in with.",
  );

/** The message of the error is the text to approve, and the wallet signs exactly this text. */
export const approvalRequired = (approval: Approval, kind: ChangeKind): DomainError =>
  new DomainError("approval_required", approval.message, {
    extra: toApprovalRequest(approval, kind),
    isExact: true,
  });

const FIELD_OF: Readonly<Record<Proof, string>> = {
  code: "otp",
  totp: "totp",
  passkey: "passkey",
  signature: "signature",
  recovery_code: "recoveryCode",
};

const IN_WORDS: Readonly<Record<Proof, string>> = {
  code: "a mailed code",
  totp: "the authenticator app",
  passkey: "a passkey",
  signature: "a signature of the wallet you sign in with",
  recovery_code: "a recovery code",
};

/**
 * The error when the change does not accept this kind of proof. The proof was not checked and
 * stays valid.
 */
export const proofNotTaken = (proof: Proof, taken: readonly Proof[]): DomainError => {
  const why =
    proof === "recovery_code"
      ? "A recovery code only replaces a lost factor; it does not approve this."
      : `This cannot be approved by ${IN_WORDS[proof]}.`;
  const message = `${why} Nothing was changed. Approve it by ${taken.map((each) => IN_WORDS[each]).join(", or ")}.`;
  return new DomainError("forbidden", message, {
    details: [{ path: `approval.${FIELD_OF[proof]}`, message: why }],
  });
};

export const approvalUsed = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This approval was used already or has expired. It is good for one change; send the request without it to get another.",
    { details: [{ path: "approval.approvalId", message: "was used already or has expired" }] },
  );

export const wrongSignature = (address: string, path: string): DomainError => {
  const message = `The signature is not one of ${address}, the wallet you sign in with, over the message of this approval. Nothing was changed.`;
  return new DomainError("invalid_signature", message, { details: [{ path, message }] });
};
