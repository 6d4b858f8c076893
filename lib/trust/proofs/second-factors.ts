import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import type { UserActor } from "@/lib/core/actor";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { CodeLimits } from "./code-limits";
import type { Keyring } from "@/lib/platform/encryption/service";
import { tooManyGuesses, type FactorMeans, type FactorUse, type SecondFactors } from "./codes";
import { noAuthenticator } from "./errors";
import type { PasskeyProofs } from "./passkeys";
import { matchingStep, recoveryCodeHash, type TotpFactor } from "./totp";
import { findTotp, takeRecoveryCode, takeTotpStep, totpContext } from "./repository";

export interface SecondFactorsDeps {
  readonly database: Database;
  readonly keyring: Keyring;
  readonly codeLimits: CodeLimits;
  readonly passkeys: Pick<PasskeyProofs, "askApproval" | "checkApproval">;
  readonly clock: Clock;
}

type Tried =
  | { readonly as: "right"; readonly means: FactorMeans }
  | { readonly as: "wrong"; readonly error: DomainError };

interface Try extends Omit<FactorUse, "actor"> {
  readonly userId: string;
  readonly now: Date;
}

const wrongCode = (path: string, message: string): Tried => ({
  as: "wrong",
  error: new DomainError("otp_invalid", message, { details: [{ path, message }] }),
});

/** The time step of the code for the person's secret; null for a wrong code. */
export const stepOf = (
  keyring: Keyring,
  factor: TotpFactor,
  code: string,
  now: Date,
): number | null => {
  const secret = keyring.open(factor.sealed, totpContext(factor.id));
  try {
    return matchingStep(secret, code, now);
  } finally {
    secret.fill(0);
  }
};

const tryTotp = async (
  tx: Tx,
  keyring: Keyring,
  { userId, now }: Try,
  code: string,
): Promise<Tried> => {
  const factor = await findTotp(tx, userId);
  if (factor?.confirmedAt == null) throw noAuthenticator();
  const step = stepOf(keyring, factor, code, now);
  if (step === null)
    return wrongCode(
      "totp",
      "The code of the authenticator app is wrong. Nothing was approved.",
    );
  if (await takeTotpStep(tx, factor, step)) return { as: "right", means: "totp" };
  return wrongCode(
    "totp",
    "This code of the authenticator app was used already. Wait for the next one.",
  );
};

const tryRecoveryCode = async (
  tx: Tx,
  { userId, now: at }: Try,
  code: string,
): Promise<Tried> => {
  if (await takeRecoveryCode(tx, { userId, codeHash: recoveryCodeHash(userId, code), at }))
    return { as: "right", means: "recovery_code" };
  return wrongCode(
    "recoveryCode",
    "The recovery code is wrong, or was used already. Nothing was approved.",
  );
};

const tryPasskey = async (
  tx: Tx,
  { passkeys }: SecondFactorsDeps,
  attempt: Try,
  assertion: PasskeyAssertion,
): Promise<Tried> => {
  const checked = await passkeys.checkApproval(tx, attempt, assertion);
  return "refused" in checked
    ? { as: "wrong", error: checked.refused }
    : { as: "right", means: "passkey" };
};

const tryProof = (tx: Tx, deps: SecondFactorsDeps, attempt: Try): Promise<Tried> => {
  const { proof } = attempt;
  if ("passkey" in proof) return tryPasskey(tx, deps, attempt, proof.passkey);
  if ("totp" in proof) return tryTotp(tx, deps.keyring, attempt, proof.totp);
  return tryRecoveryCode(tx, attempt, proof.recoveryCode);
};

const personsOnly = (): DomainError =>
  new DomainError(
    "forbidden",
    "An API key approves with a mailed code alone. Nothing was approved.",
  );

interface Used {
  readonly means: FactorMeans;
  readonly codeId: string;
  readonly at: Date;
}

const recordUse = (
  tx: Tx,
  actor: UserActor,
  { subjectId, digest }: FactorUse,
  { at, ...used }: Used,
): Promise<void> => {
  const data = { ...used, digest: Buffer.from(digest).toString("hex") };
  return recordAudit(tx, {
    ...doneBy(actor),
    action: "factor.used",
    subject: subjectId,
    data,
    at,
  });
};

/**
 * Accepts second factors instead of mailed codes. A person's attempts run one after another over
 * all instances, and wrong ones count in the same hourly limit as wrong mailed codes. A correct
 * factor is used in the transaction that records what it approved.
 */
export const createSecondFactors = (deps: SecondFactorsDeps): SecondFactors => ({
  consume: async (use) => {
    const { actor, subjectId, digest, proof } = use;
    if (actor.type !== "user") throw personsOnly();
    const now = deps.clock.now();
    const otpId = newId("otp");
    const tried = await deps.database.transaction(async (tx) => {
      const until = await deps.codeLimits.lockGuesses(tx, actor.userId, now);
      if (until !== null) return { as: "wrong", error: tooManyGuesses(until, now) } as const;
      const result = await tryProof(tx, deps, {
        userId: actor.userId,
        subjectId,
        digest,
        proof,
        now,
      });
      if (result.as === "wrong")
        await deps.codeLimits.countWrongGuess(tx, actor.userId, { id: otpId, at: now });
      else await recordUse(tx, actor, use, { means: result.means, codeId: otpId, at: now });
      return result;
    });
    if (tried.as === "wrong") throw tried.error;
    return { otpId, means: tried.means };
  },
  askPasskey: async ({ actor, subjectId, digest }) => {
    if (actor.type !== "user") throw personsOnly();
    return deps.passkeys.askApproval({ userId: actor.userId, subjectId, digest });
  },
});
