import type { PasskeyRequest } from "@/lib/contracts/passkey-records";
import type { GivenCode, SecondFactor } from "@/lib/contracts/proofs";
import { type Actor, actorName, responsibleUserId } from "@/lib/core/actor";
import { addSeconds, secondsUntil, type Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { maskEmail } from "@/lib/news/mail/service";
import type { Mailer } from "@/lib/platform/ports/mail";
import type { OtpRepository, OtpRow } from "./codes-repository";
import { factorOnHold, tooManyGuesses } from "./errors";

export { factorOnHold, tooManyGuesses } from "./errors";

const OTP_TTL_SECONDS = 300;
const OTP_RESEND_SECONDS = 60;

export interface OtpDeps {
  repository: OtpRepository;
  mailer: Mailer;
  clock: Clock;
  secrets: {
    code(): string;
    hash(purpose: string, text: string): Buffer;
    matches(purpose: string, text: string, stored: Uint8Array): boolean;
    equals(a: Uint8Array, b: Uint8Array): boolean;
  };
  /**
   * Reads the verified e-mail address of a person; null when there is none. Codes that are sent to
   * the address approve nothing until `heldUntil`.
   */
  contacts: {
    codeAddress(userId: string): Promise<{ email: string; heldUntil: Date | null } | null>;
  };
  secondFactors: SecondFactors;
}

/** Proofs that are accepted instead of a mailed code. */
export type FactorMeans = "totp" | "recovery_code" | "passkey";

export type CodeMeans = "code" | FactorMeans;

export interface FactorUse {
  readonly actor: Actor;
  readonly subjectId: string;
  readonly digest: Uint8Array;
  readonly proof: SecondFactor;
}

export interface SecondFactors {
  /**
   * Uses the factor for exactly this subject and digest.
   * @returns an id for the record of what was approved
   * @throws DomainError `otp_invalid`, `invalid_signature`, `otp_attempts_exceeded`;
   * `invalid_state` without such a factor; `forbidden` for an API key
   */
  consume(use: FactorUse): Promise<{ readonly otpId: string; readonly means: FactorMeans }>;
  /**
   * A challenge that one of the person's passkeys signs to approve exactly this object.
   * @throws DomainError `invalid_state` without a passkey; `forbidden` for an API key
   */
  askPasskey(
    asked: Omit<FactorUse, "proof">,
  ): Promise<{ readonly request: PasskeyRequest; readonly expiresAt: Date }>;
}

export interface OtpRequest {
  /** The requester. The code is sent to this person, or to the creator of this API key. */
  actor: Actor;
  /**
   * Id of the object to approve. The code is valid only for this id and `digest`, the digest of
   * everything that it approves.
   */
  subjectId: string;
  digest: Uint8Array<ArrayBuffer>;
  subject: string;
  /** Lines of the message: sources, recipient, minimum received. */
  lines: readonly string[];
  /** Default: `email`. */
  channel?: CodeChannel | undefined;
}

/** How the person approves: by a mailed code, or by a passkey that signs a challenge. */
export type CodeChannel = "email" | "passkey";

export interface OtpUse {
  actor: Actor;
  subjectId: string;
  digest: Uint8Array;
  code: GivenCode;
}

export interface OtpSent {
  otpId: string;
  channel: CodeChannel;
  destination: string;
  expiresAt: Date;
  resendAfter: Date;
  /** Set for the channel `passkey`. */
  passkey?: PasskeyRequest;
}

const ASK_FIRST = "Ask for a one-time code first (POST /swap/request-otp).";
const ASK_FIRST_AS_KEY = `${ASK_FIRST} An API key may use only codes that it asked for itself.`;

const bytes = (buffer: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);

const wrongCode = (left: number): DomainError =>
  new DomainError(
    "otp_invalid",
    left > 0
      ? `The code is wrong. ${String(left)} tries are left.`
      : "The code is wrong. Ask for a new one.",
    { details: [{ path: "otp", message: "is wrong" }], extra: { attemptsLeft: left } },
  );

const tooSoon = (resendAfter: Date, now: Date): DomainError => {
  const seconds = secondsUntil(resendAfter, now);
  return new DomainError(
    "rate_limited",
    `A code was sent already. Another can be sent in ${String(seconds)} s.`,
    {
      retryAfterSeconds: seconds,
    },
  );
};

/** Mails the code, or withdraws it when mailing fails. @throws DomainError `provider_error` */
const deliver = async (
  deps: OtpDeps,
  otp: OtpRow,
  { code, input }: { code: string; input: OtpRequest },
): Promise<void> => {
  const text = [
    `${code} is your code. It approves exactly this and nothing else:`,
    "",
    ...input.lines,
    "",
    "It is good for 5 minutes. If you did not ask for it, do nothing: without it no money moves.",
  ].join("\n");
  try {
    await deps.mailer.send({ to: otp.destination, subject: input.subject, text, code });
  } catch (error) {
    // A code that was not mailed must not delay the next request.
    await deps.repository.withdraw(otp, input.actor, deps.clock.now());
    throw error;
  }
};

const explainNoOpenCode = async (
  { repository }: OtpDeps,
  { actor, subjectId }: Pick<OtpUse, "actor" | "subjectId">,
): Promise<DomainError> => {
  const latest = await repository.latestFor(actor, subjectId);
  switch (latest?.closedAs) {
    case "consumed":
      return new DomainError("otp_invalid", "This code was used already. Ask for a new one.");
    case "expired":
      return new DomainError("otp_expired", "The code has expired. Ask for a new one.");
    case "attempts":
    case null:
      return new DomainError(
        "otp_attempts_exceeded",
        "Too many wrong codes. Ask for a new one.",
      );
    case undefined:
    default:
      return new DomainError(
        "otp_required",
        actor.type === "user" ? ASK_FIRST : ASK_FIRST_AS_KEY,
      );
  }
};

/**
 * One-time codes of 6 digits, valid for 5 minutes and five guesses. Each code is bound to the
 * digest of everything that it approves.
 */
export const createOtpService = (deps: OtpDeps) => {
  const hashOf = (otpId: string, code: string): Uint8Array<ArrayBuffer> =>
    bytes(deps.secrets.hash("otp", `${otpId}:${code}`));

  const askPasskey = async ({ actor, subjectId, digest }: OtpRequest): Promise<OtpSent> => {
    const { request: passkey, expiresAt } = await deps.secondFactors.askPasskey({
      actor,
      subjectId,
      digest,
    });
    const asked = {
      otpId: newId("otp"),
      channel: "passkey",
      destination: "your passkey",
    } as const;
    return { ...asked, expiresAt, resendAfter: deps.clock.now(), passkey };
  };

  /**
   * Mails a new code, which replaces the requester's earlier one.
   * @throws DomainError `otp_channel_missing` (no verified address), `forbidden` (the address was
   * set with a recovery code less than a day ago), `rate_limited` (within 60 s of the requester's
   * last code, or above the hourly limits, see code-limits), `provider_error`; `invalid_state` for
   * the passkey channel without a passkey
   */
  const request = async ({ channel, ...input }: OtpRequest): Promise<OtpSent> => {
    const { actor } = input;
    if (channel === "passkey") return askPasskey(input);
    const userId = responsibleUserId(actor);
    const address = await deps.contacts.codeAddress(userId);
    if (address === null) {
      throw new DomainError(
        "otp_channel_missing",
        "Verify an e-mail address first; the one-time code is sent to it.",
      );
    }
    const now = deps.clock.now();
    const { email, heldUntil } = address;
    if (heldUntil !== null && heldUntil > now)
      throw factorOnHold("Your e-mail address", heldUntil);
    const otpId = newId("otp");
    const code = deps.secrets.code();
    const next = {
      id: otpId,
      projectId: actor.projectId,
      userId,
      requestedBy: actorName(actor),
      subjectId: input.subjectId,
      digest: input.digest,
      channel: "email",
      destination: email,
      codeHash: hashOf(otpId, code),
      createdAt: now,
      expiresAt: addSeconds(now, OTP_TTL_SECONDS),
      resendAfter: addSeconds(now, OTP_RESEND_SECONDS),
    };
    const replaced = await deps.repository.replace(next, actor);
    if (replaced.stored === null) throw tooSoon(replaced.resendAfter, now);
    const { stored } = replaced;
    await deliver(deps, stored, { code, input });
    return {
      otpId,
      channel: "email",
      destination: maskEmail(email),
      expiresAt: stored.expiresAt,
      resendAfter: stored.resendAfter,
    };
  };

  /**
   * Uses the code if it is correct for exactly this digest and the actor may use it. A person may
   * use codes that were mailed to them, an API key only codes that it requested itself. A second
   * factor of the person may replace the code.
   * @throws DomainError `otp_required`, `otp_invalid`, `otp_expired`, `otp_attempts_exceeded`; and
   * the errors of `SecondFactors.consume`
   */
  const consume = async ({
    code,
    ...input
  }: OtpUse): Promise<{ readonly otpId: string; readonly means: CodeMeans }> => {
    if (typeof code !== "string") return deps.secondFactors.consume({ ...input, proof: code });
    const now = deps.clock.now();
    const guessed = await deps.repository.guess({
      actor: input.actor,
      subjectId: input.subjectId,
      id: newId("otp"),
      now,
      isRight: (otp) =>
        deps.secrets.matches("otp", `${otp.id}:${code}`, otp.codeHash) &&
        deps.secrets.equals(otp.digest, input.digest),
    });
    switch (guessed.as) {
      case "consumed":
        return { otpId: guessed.otpId, means: "code" };
      case "no_code":
        throw await explainNoOpenCode(deps, input);
      case "too_many":
        throw tooManyGuesses(guessed.until, now);
      case "expired":
        throw new DomainError("otp_expired", "The code has expired. Ask for a new one.");
      case "wrong":
        throw wrongCode(guessed.left);
    }
  };

  return { request, consume };
};

export type OtpService = ReturnType<typeof createOtpService>;
