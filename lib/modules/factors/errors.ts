import { DomainError } from "@/lib/core/errors";

export const noAuthenticator = (): DomainError =>
  new DomainError(
    "invalid_state",
    "You have no authenticator app. Add one in Settings, or approve with a mailed code or your wallet. Nothing was approved.",
  );

export const alreadyEnrolled = (): DomainError =>
  new DomainError("invalid_state", "You have an authenticator app already. Remove it before you add another one.");

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
  return new DomainError("invalid_signature", message, { details: [{ path: "passkey", message }] });
};

export const tooManyPasskeys = (max: number): DomainError =>
  new DomainError("invalid_state", `You have ${String(max)} passkeys, the most that are possible. Remove one first.`);

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
