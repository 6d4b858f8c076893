import { bindDeps } from "@/lib/core/bind-deps";
import type { UserActor } from "@/lib/core/actor";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { GivenApproval } from "@/lib/modules/approvals/service";
import { doneBy, recordAudit } from "@/lib/modules/audit/service";
import { registrationOver, tooManyPasskeys, wrongRegistration } from "./errors";
import type { Passkey } from "./passkey";
import { CHALLENGE_SECONDS, newChallenge } from "./passkey-proofs";
import {
  deletePasskey,
  findPasskey,
  insertPasskey,
  listPasskeys,
  PASSKEYS_MAX,
  renamePasskey,
  takeRegistration,
} from "./passkey-repository";
import { recordFactorChange, type FactorChangesDeps } from "./record-change";
import { addPasskeyChange, removePasskeyChange } from "./texts";
import { challengeOf, creationOptions, readRegistration, type NewCredential, type RelyingParty } from "./webauthn";

export interface PasskeysDeps extends FactorChangesDeps {
  readonly party: RelyingParty;
}

const list = ({ database }: PasskeysDeps, { userId }: UserActor): Promise<Passkey[]> =>
  listPasskeys(database.prisma, userId);

const find = async ({ database }: PasskeysDeps, { userId }: UserActor, id: string): Promise<Passkey> => {
  const passkey = isId("passkey", id) ? await findPasskey(database.prisma, userId, id) : null;
  if (passkey === null) throw notFound();
  return passkey;
};

interface NewPasskey {
  readonly name: string;
  readonly approval?: GivenApproval | undefined;
}

/**
 * Options with which the browser makes a passkey. The name is a part of the approval.
 * @throws DomainError `invalid_state` with too many; `approval_required` and what else `requireApproval` throws
 */
const start = async (deps: PasskeysDeps, actor: UserActor, input: NewPasskey): Promise<Record<string, unknown>> => {
  const { userId } = actor;
  const existing = await listPasskeys(deps.database.prisma, userId);
  if (existing.length >= PASSKEYS_MAX) throw tooManyPasskeys(PASSKEYS_MAX);
  const approved = await deps.approvals.requireApproval(actor, addPasskeyChange(input.name), input.approval);
  const wallet = await deps.people.signInWallet(userId);
  await deps.database.transaction(async (tx) => {
    await approved.consume(tx);
    const entry = { ...doneBy(actor), subject: userId, at: deps.clock.now() };
    await recordAudit(tx, { ...entry, action: "passkey.started", data: { name: input.name, ...approved.record } });
  });
  const asked = { purpose: "register", userId, subject: input.name, digest: null } as const;
  const { challenge } = await newChallenge(deps, asked);
  const account = wallet?.address ?? userId;
  return creationOptions(deps.party, { userId, account, challenge, existing, timeoutMs: CHALLENGE_SECONDS * 1000 });
};

/** Adds the passkey that the browser made. @throws DomainError `invalid_signature`, `invalid_state` */
const add = async (deps: PasskeysDeps, actor: UserActor, credential: NewCredential): Promise<Passkey> => {
  const { database, clock, party } = deps;
  const { userId } = actor;
  const at = clock.now();
  const challenge = challengeOf(credential.response.clientDataJSON);
  if (challenge === null) throw wrongRegistration();
  // The challenge is used up by the attempt, whether its result is right or wrong.
  const name = await takeRegistration(database.prisma, userId, { challenge, now: at });
  if (name === null) throw registrationOver();
  const made = await readRegistration(party, credential, challenge);
  if (made === null) throw wrongRegistration();
  const passkey = { ...made, id: newId("passkey"), userId, name, createdAt: at, lastUsedAt: null };
  await database.transaction(async (tx) => {
    if (!(await insertPasskey(tx, passkey))) throw wrongRegistration();
    const what = `the passkey "${name}" was added`;
    await recordFactorChange(tx, deps, actor, {
      action: "passkey.added",
      subject: passkey.id,
      what,
      at,
      data: { name },
    });
  });
  return passkey;
};

/** @throws DomainError `not_found` */
const rename = async (deps: PasskeysDeps, actor: UserActor, id: string, name: string): Promise<Passkey> => {
  const before = await find(deps, actor, id);
  await deps.database.transaction(async (tx) => {
    if (!(await renamePasskey(tx, actor.userId, id, name))) throw notFound();
    const data = { from: before.name, to: name };
    await recordAudit(tx, { ...doneBy(actor), action: "passkey.renamed", subject: id, data, at: deps.clock.now() });
  });
  return { ...before, name };
};

/** @throws DomainError `not_found`, `approval_required` and what else `requireApproval` throws */
const remove = async (
  deps: PasskeysDeps,
  actor: UserActor,
  id: string,
  given: GivenApproval | undefined,
): Promise<void> => {
  const passkey = await find(deps, actor, id);
  const { name } = passkey;
  const approved = await deps.approvals.requireApproval(actor, removePasskeyChange(passkey), given);
  const at = deps.clock.now();
  await deps.database.transaction(async (tx) => {
    await approved.consume(tx);
    if (!(await deletePasskey(tx, passkey))) throw notFound();
    const what = `the passkey "${name}" was removed`;
    const data = { name, ...approved.record };
    await recordFactorChange(tx, deps, actor, { action: "passkey.removed", subject: id, what, at, data });
  });
};

/** The passkeys of a person (WebAuthn Level 2, 7.1). Adding and removing one needs an approval. */
export const createPasskeys = (deps: PasskeysDeps) => ({
  list: bindDeps(deps, list),
  start: bindDeps(deps, start),
  add: bindDeps(deps, add),
  rename: bindDeps(deps, rename),
  remove: bindDeps(deps, remove),
});
