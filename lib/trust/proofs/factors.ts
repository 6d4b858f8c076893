import { randomBytes } from "node:crypto";
import { bindDeps } from "@/lib/core/bind-deps";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { DomainError, notFound } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import type { Tx } from "@/lib/platform/db/client";
import type { GivenApproval } from "./approvals";
import { doneBy, recordAudit } from "@/lib/news/audit/service";
import type { CodeLimits } from "./code-limits";
import type { Keyring } from "@/lib/platform/encryption/service";
import { tooManyGuesses } from "./codes";
import { alreadyEnrolled, notPending } from "./errors";
import { stepOf } from "./second-factors";
import {
  addTotpChange,
  createPasskeys,
  type FactorChangesDeps,
  recordFactorChange,
  removeTotpChange,
  renewRecoveryCodesChange,
} from "./passkeys";
import {
  base32,
  newRecoveryCodes,
  recoveryCodeHash,
  TOTP_SECRET_BYTES,
  type TotpFactor,
  totpUri,
} from "./totp";
import {
  confirmTotp,
  countRecoveryCodes,
  deleteTotp,
  findTotp,
  replacePendingTotp,
  replaceRecoveryCodes,
  totpContext,
} from "./repository";
import { relyingPartyOf } from "./webauthn";

export type { Passkey } from "./webauthn";

export interface FactorsDeps extends FactorChangesDeps {
  readonly keyring: Keyring;
  readonly codeLimits: CodeLimits;
}

export interface Factors {
  /** When the authenticator app was confirmed; null when there is no confirmed app. */
  readonly totpSince: Date | null;
  readonly recoveryCodesLeft: number;
}

export interface NewTotp {
  /** Base32; shown once. */
  readonly secret: string;
  readonly uri: string;
  readonly expiresAt: Date;
}

const PENDING_SECONDS = 600;

const get = async ({ database }: FactorsDeps, { userId }: UserActor): Promise<Factors> => {
  const [totp, recoveryCodesLeft] = await Promise.all([
    findTotp(database.prisma, userId),
    countRecoveryCodes(database.prisma, userId),
  ]);
  return { totpSince: totp?.confirmedAt ?? null, recoveryCodesLeft };
};

const confirmedTotp = async (
  { database }: FactorsDeps,
  userId: string,
): Promise<TotpFactor> => {
  const factor = await findTotp(database.prisma, userId);
  if (factor?.confirmedAt == null) throw notFound();
  return factor;
};

/**
 * Creates a secret for an authenticator app. It approves nothing until a code confirms it.
 * @throws DomainError `invalid_state` when there is a confirmed app; `approval_required` and the
 * other errors of `requireApproval`
 */
const startTotp = async (
  deps: FactorsDeps,
  actor: UserActor,
  given: GivenApproval | undefined,
): Promise<NewTotp> => {
  const { database, keyring, clock, publicUrl } = deps;
  const { userId } = actor;
  if ((await findTotp(database.prisma, userId))?.confirmedAt != null) throw alreadyEnrolled();
  const approved = await deps.approvals.requireApproval(actor, addTotpChange, given);
  const wallet = await deps.people.signInWallet(userId);
  const id = newId("totpFactor");
  const secret = randomBytes(TOTP_SECRET_BYTES);
  try {
    const createdAt = clock.now();
    const sealed = keyring.seal(secret, totpContext(id));
    await database.transaction(async (tx) => {
      await approved.consume(tx);
      if (!(await replacePendingTotp(tx, { userId, id, sealed, createdAt })))
        throw alreadyEnrolled();
      const entry = { ...doneBy(actor), subject: id, at: createdAt };
      await recordAudit(tx, { ...entry, action: "totp.started", data: approved.record });
    });
    const issuer = `Causeway (${new URL(publicUrl).host})`;
    const uri = totpUri(secret, wallet?.address ?? userId, issuer);
    return { secret: base32(secret), uri, expiresAt: addSeconds(createdAt, PENDING_SECONDS) };
  } finally {
    secret.fill(0);
  }
};

const storeRecoveryCodes = async (
  tx: Tx,
  userId: string,
  at: Date,
): Promise<readonly string[]> => {
  const codes = newRecoveryCodes();
  const hashes = codes.map((code) => recoveryCodeHash(userId, code));
  await replaceRecoveryCodes(tx, userId, { hashes, at });
  return codes;
};

const wrongFirstCode = (): DomainError => {
  const message =
    "This is not the code that the app shows now. Check that the clock of its device is right.";
  return new DomainError("otp_invalid", message, { details: [{ path: "code", message }] });
};

/**
 * Confirms the app with its first code, which cannot be used again.
 * @returns ten recovery codes, which are shown only this once
 * @throws DomainError `otp_invalid`, `otp_attempts_exceeded`, `invalid_state`
 */
const confirm = async (
  deps: FactorsDeps,
  actor: UserActor,
  code: string,
): Promise<readonly string[]> => {
  const { database, keyring, codeLimits, clock } = deps;
  const { userId } = actor;
  const at = clock.now();
  const result = await database.transaction(async (tx) => {
    const until = await codeLimits.lockGuesses(tx, userId, at);
    if (until !== null) return tooManyGuesses(until, at);
    const factor = await findTotp(tx, userId);
    if (factor?.confirmedAt !== null || addSeconds(factor.createdAt, PENDING_SECONDS) <= at)
      return notPending();
    const step = stepOf(keyring, factor, code, at);
    if (step === null) {
      await codeLimits.countWrongGuess(tx, userId, { id: newId("otp"), at });
      return wrongFirstCode();
    }
    if (!(await confirmTotp(tx, factor, { step, at }))) return notPending();
    const what = "an authenticator app was added";
    await recordFactorChange(tx, deps, actor, {
      action: "totp.added",
      subject: factor.id,
      what,
      at,
    });
    return storeRecoveryCodes(tx, userId, at);
  });
  if (result instanceof DomainError) throw result;
  return result;
};

/**
 * Removes the app and its recovery codes.
 * @throws DomainError `not_found`, `approval_required` and the other errors of `requireApproval`
 */
const removeTotp = async (
  deps: FactorsDeps,
  actor: UserActor,
  given: GivenApproval | undefined,
): Promise<void> => {
  const factor = await confirmedTotp(deps, actor.userId);
  const approved = await deps.approvals.requireApproval(
    actor,
    removeTotpChange(factor.id),
    given,
  );
  const at = deps.clock.now();
  await deps.database.transaction(async (tx) => {
    await approved.consume(tx);
    if (!(await deleteTotp(tx, actor.userId))) throw notFound();
    const what = "the authenticator app was removed";
    await recordFactorChange(tx, deps, actor, {
      action: "totp.removed",
      subject: factor.id,
      what,
      at,
      data: approved.record,
    });
  });
};

/**
 * Replaces the recovery codes.
 * @throws DomainError `not_found` without an app; `approval_required` and the other errors of
 * `requireApproval`
 */
const renewRecoveryCodes = async (
  deps: FactorsDeps,
  actor: UserActor,
  given: GivenApproval | undefined,
): Promise<readonly string[]> => {
  const { id } = await confirmedTotp(deps, actor.userId);
  const approved = await deps.approvals.requireApproval(
    actor,
    renewRecoveryCodesChange(id),
    given,
  );
  const at = deps.clock.now();
  return deps.database.transaction(async (tx) => {
    await approved.consume(tx);
    const what = "ten new recovery codes were made";
    await recordFactorChange(tx, deps, actor, {
      action: "recovery_codes.renewed",
      subject: id,
      what,
      at,
      data: approved.record,
    });
    return storeRecoveryCodes(tx, actor.userId, at);
  });
};

/**
 * A person's means of approval besides mailed codes and the wallet: an authenticator app (RFC 6238)
 * with recovery codes, and passkeys.
 */
export const createFactorsService = (deps: FactorsDeps) => ({
  get: bindDeps(deps, get),
  startTotp: bindDeps(deps, startTotp),
  confirmTotp: bindDeps(deps, confirm),
  removeTotp: bindDeps(deps, removeTotp),
  renewRecoveryCodes: bindDeps(deps, renewRecoveryCodes),
  passkeys: createPasskeys({ ...deps, party: relyingPartyOf(deps.publicUrl) }),
});
