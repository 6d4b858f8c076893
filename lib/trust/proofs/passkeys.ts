import {
  type ApprovalsService,
  type Change,
  type GivenApproval,
  heldUntil,
  quoted,
} from "./approvals";
import {
  challengeOf,
  creationOptions,
  type NewCredential,
  type Passkey,
  readAssertion,
  readRegistration,
  type RelyingParty,
  transportsOf,
} from "./webauthn";
import type { UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { Database, Tx } from "@/lib/platform/db/client";
import { type AuditData, doneBy, recordAudit } from "@/lib/news/audit/service";
import type { ProjectsService } from "@/lib/trust/projects/service";
import { randomBytes } from "node:crypto";
import type {
  PasskeyAssertion,
  PasskeyCreation,
  PasskeyRequest,
} from "@/lib/contracts/passkey-records";
import { type DomainError, notFound } from "@/lib/core/errors";
import { factorOnHold } from "./codes";
import {
  advanceCounter,
  type ChallengeFor,
  deletePasskey,
  findByCredential,
  findPasskey,
  insertChallenge,
  insertPasskey,
  listPasskeys,
  PASSKEYS_MAX,
  renamePasskey,
  takeChallenge,
  takeRegistration,
} from "./repository";
import {
  noPasskey,
  registrationOver,
  tooManyPasskeys,
  wrongPasskey,
  wrongRegistration,
} from "./errors";
import { bindDeps } from "@/lib/core/bind-deps";
import { isId, newId } from "@/lib/core/ids";

export const addTotpChange: Change = {
  kind: "totp.add",
  title: "Add an authenticator app",
  lines: ["Codes of the app approve payments and changes of your account from then on"],
  values: {},
};

export const removeTotpChange = (id: string): Change => ({
  kind: "totp.remove",
  title: "Remove the authenticator app",
  lines: ["Its codes and its recovery codes approve nothing from then on"],
  values: { id },
});

export const renewRecoveryCodesChange = (id: string): Change => ({
  kind: "recovery_codes.renew",
  title: "Make ten new recovery codes",
  lines: ["The recovery codes of now approve nothing from then on"],
  values: { id },
});

const addPasskeyChange = (name: string): Change => ({
  kind: "passkey.add",
  title: "Add a passkey",
  lines: [
    `Name: ${quoted(name)}`,
    "It signs in, and approves payments and changes of your account from then on",
  ],
  values: { name },
});

const removePasskeyChange = ({ id, name }: Passkey): Change => ({
  kind: "passkey.remove",
  title: "Remove a passkey",
  lines: [`Name: ${quoted(name)}`, `Passkey: ${id}`],
  values: { id },
});

const factorNotice = (
  what: string,
  publicUrl: string,
): { readonly subject: string; readonly text: string } => ({
  subject: `Your Causeway account: ${what}`,
  text: [
    `At ${publicUrl}: ${what}.`,
    "",
    "If this was you, do nothing.",
    `If not, look at ${publicUrl}/settings/security#sign-in at once, end all other sessions, and tell the operator of your Causeway.`,
  ].join("\n"),
});

export interface FactorChangesDeps {
  readonly database: Database;
  readonly approvals: Pick<ApprovalsService, "requireApproval">;
  readonly people: {
    /** Reads within the transaction, so that no second connection is needed. */
    verifiedEmail(userId: string, tx?: Tx): Promise<string | null>;
    signInWallet(userId: string): Promise<{ readonly address: string } | null>;
  };
  readonly projects: Pick<ProjectsService, "tellPerson">;
  readonly publicUrl: string;
  readonly clock: Clock;
}

interface FactorChange {
  readonly action: string;
  readonly subject: string;
  readonly what: string;
  readonly at: Date;
  readonly data?: AuditData;
}

/** Records a change of the person's factors, and mails the verified address. */
export const recordFactorChange = async (
  tx: Tx,
  deps: FactorChangesDeps,
  actor: UserActor,
  { what, ...entry }: FactorChange,
): Promise<void> => {
  await recordAudit(tx, { ...doneBy(actor), ...entry });
  const to = await deps.people.verifiedEmail(actor.userId, tx);
  if (to === null) return;
  await deps.projects.tellPerson(tx, {
    userId: actor.userId,
    to,
    ...factorNotice(what, deps.publicUrl),
  });
};

const CHALLENGE_SECONDS = 300;
const NONCE_BYTES = 32;

interface PasskeyProofsDeps {
  readonly database: Database;
  readonly party: RelyingParty;
  readonly clock: Clock;
}

interface PasskeySubject {
  readonly userId: string;
  readonly subjectId: string;
  readonly digest: Uint8Array;
}

interface AskedPasskey {
  readonly request: PasskeyRequest;
  readonly expiresAt: Date;
}

/**
 * Stores a challenge of 32 random bytes. In a challenge for an approval, the digest of the
 * approved object precedes them.
 */
const newChallenge = async (
  { database, clock }: Pick<PasskeyProofsDeps, "database" | "clock">,
  asked: ChallengeFor,
): Promise<{ readonly challenge: Buffer; readonly expiresAt: Date }> => {
  const challenge = Buffer.concat([asked.digest ?? new Uint8Array(), randomBytes(NONCE_BYTES)]);
  const createdAt = clock.now();
  const expiresAt = addSeconds(createdAt, CHALLENGE_SECONDS);
  await insertChallenge(database.prisma, { ...asked, challenge, createdAt, expiresAt });
  return { challenge, expiresAt };
};

const requestOf = (
  { id: rpId }: RelyingParty,
  challenge: Buffer,
  passkeys: readonly Passkey[],
): PasskeyRequest => ({
  challenge: challenge.toString("base64url"),
  rpId,
  allowCredentials: passkeys.map(({ credentialId, transports }) => ({
    id: credentialId,
    type: "public-key",
    transports: transportsOf(transports),
  })),
  userVerification: "required",
  timeout: CHALLENGE_SECONDS * 1000,
});

const isHeld = ({ heldUntil }: Passkey, now: Date): boolean =>
  heldUntil !== null && heldUntil > now;

const onHold = ({ name, heldUntil }: Passkey): DomainError =>
  factorOnHold(`The passkey "${name}"`, heldUntil ?? new Date(0));

type Checked = { readonly passkey: Passkey } | { readonly refused: DomainError };

/** Stores the counter, or records that a copy of the passkey may exist. */
const checkCounter = async (
  tx: Tx,
  passkey: Passkey,
  used: { counter: bigint; at: Date },
): Promise<Checked> => {
  if (await advanceCounter(tx, passkey, used)) return { passkey };
  const { userId: actor, id: subject } = passkey;
  const data = { stored: String(passkey.counter), received: String(used.counter) };
  const entry = {
    projectId: null,
    actor,
    action: "passkey.clone_suspected",
    subject,
    data,
    at: used.at,
  };
  await recordAudit(tx, { ...entry, request: null });
  return {
    refused: wrongPasskey(
      "This passkey may have been copied: its counter went back. Remove it in Settings.",
    ),
  };
};

/**
 * Checks a passkey's signature. The challenge is used up even when the signature is wrong. Call it
 * in a transaction that commits in both cases.
 */
const checkAssertion = async (
  tx: Tx,
  { party, clock }: PasskeyProofsDeps,
  assertion: PasskeyAssertion,
  asked: ChallengeFor,
): Promise<Checked> => {
  const now = clock.now();
  const challenge = challengeOf(assertion.response.clientDataJSON);
  if (challenge === null || !(await takeChallenge(tx, asked, { challenge, now })))
    return {
      refused: wrongPasskey(
        "The passkey signed another request, or this one was used or has expired.",
      ),
    };
  const passkey = await findByCredential(tx, assertion.id);
  if (passkey === null || (asked.userId !== null && passkey.userId !== asked.userId))
    return {
      refused: wrongPasskey("This passkey is not known here. It may have been removed."),
    };
  const counter = await readAssertion(party, assertion, { passkey, challenge });
  if (counter === null)
    return {
      refused: wrongPasskey("The signature is not one of this passkey for this service."),
    };
  return checkCounter(tx, passkey, { counter, at: now });
};

/** Approvals and sign-ins by passkey (WebAuthn Level 2, 7.2). */
export const createPasskeyProofs = (deps: PasskeyProofsDeps) => {
  const approval = ({ userId, subjectId: subject, digest }: PasskeySubject): ChallengeFor => ({
    purpose: "approve",
    userId,
    subject,
    digest,
  });
  const signIn: ChallengeFor = {
    purpose: "sign_in",
    userId: null,
    subject: null,
    digest: null,
  };

  return {
    /**
     * A challenge that one of the person's passkeys signs to approve exactly this object.
     * @throws DomainError `invalid_state` without a passkey; `forbidden` while all of them were
     * recently added with a recovery code
     */
    askApproval: async (subject: PasskeySubject): Promise<AskedPasskey> => {
      const [first, ...others] = await listPasskeys(deps.database.prisma, subject.userId);
      if (first === undefined) throw noPasskey();
      const passkeys = [first, ...others].filter(
        (passkey) => !isHeld(passkey, deps.clock.now()),
      );
      if (passkeys.length === 0) throw onHold(first);
      const { challenge, expiresAt } = await newChallenge(deps, approval(subject));
      return { request: requestOf(deps.party, challenge, passkeys), expiresAt };
    },
    /**
     * Checks an approval. The caller's transaction has to commit even when the signature is wrong.
     */
    checkApproval: async (
      tx: Tx,
      subject: PasskeySubject,
      assertion: PasskeyAssertion,
    ): Promise<Checked> => {
      const checked = await checkAssertion(tx, deps, assertion, approval(subject));
      if ("refused" in checked || !isHeld(checked.passkey, deps.clock.now())) return checked;
      return { refused: onHold(checked.passkey) };
    },
    askSignIn: async (): Promise<PasskeyRequest> =>
      requestOf(deps.party, (await newChallenge(deps, signIn)).challenge, []),
    /** The passkey that signed the challenge. @throws DomainError `invalid_signature` */
    checkSignIn: async (assertion: PasskeyAssertion): Promise<Passkey> => {
      const checked = await deps.database.transaction((tx) =>
        checkAssertion(tx, deps, assertion, signIn),
      );
      if ("refused" in checked) throw checked.refused;
      return checked.passkey;
    },
  };
};

export type PasskeyProofs = ReturnType<typeof createPasskeyProofs>;

interface PasskeysDeps extends FactorChangesDeps {
  readonly party: RelyingParty;
}

const list = ({ database }: PasskeysDeps, { userId }: UserActor): Promise<Passkey[]> =>
  listPasskeys(database.prisma, userId);

const find = async (
  { database }: PasskeysDeps,
  { userId }: UserActor,
  id: string,
): Promise<Passkey> => {
  const passkey = isId("passkey", id) ? await findPasskey(database.prisma, userId, id) : null;
  if (passkey === null) throw notFound();
  return passkey;
};

interface NewPasskey {
  readonly name: string;
  readonly approval?: GivenApproval | undefined;
}

/**
 * Options with which the browser creates a passkey. The approval covers the passkey's name.
 * @throws DomainError `invalid_state` when the person has too many passkeys; `approval_required`
 * and the other errors of `requireApproval`
 */
const start = async (
  deps: PasskeysDeps,
  actor: UserActor,
  input: NewPasskey,
): Promise<PasskeyCreation> => {
  const { userId } = actor;
  const existing = await listPasskeys(deps.database.prisma, userId);
  if (existing.length >= PASSKEYS_MAX) throw tooManyPasskeys(PASSKEYS_MAX);
  const approved = await deps.approvals.requireApproval(
    actor,
    addPasskeyChange(input.name),
    input.approval,
  );
  const wallet = await deps.people.signInWallet(userId);
  await deps.database.transaction(async (tx) => {
    await approved.consume(tx);
    const entry = { ...doneBy(actor), subject: userId, at: deps.clock.now() };
    await recordAudit(tx, {
      ...entry,
      action: "passkey.started",
      data: { name: input.name, ...approved.record },
    });
  });
  const { approvedBy } = approved.record;
  const asked = {
    purpose: "register",
    userId,
    subject: input.name,
    digest: null,
    approvedBy,
  } as const;
  const { challenge } = await newChallenge(deps, asked);
  const account = wallet?.address ?? userId;
  return creationOptions(deps.party, {
    userId,
    account,
    challenge,
    existing,
    timeoutMs: CHALLENGE_SECONDS * 1000,
  });
};

/**
 * Adds the passkey that the browser made.
 * @throws DomainError `invalid_signature`, `invalid_state`
 */
const add = async (
  deps: PasskeysDeps,
  actor: UserActor,
  credential: NewCredential,
): Promise<Passkey> => {
  const { database, clock, party } = deps;
  const { userId } = actor;
  const at = clock.now();
  const challenge = challengeOf(credential.response.clientDataJSON);
  if (challenge === null) throw wrongRegistration();
  // The challenge is used up even when the browser's response proves invalid.
  const registration = await takeRegistration(database.prisma, userId, { challenge, now: at });
  if (registration === null) throw registrationOver();
  const { name } = registration;
  const made = await readRegistration(party, credential, challenge);
  if (made === null) throw wrongRegistration();
  const passkey = {
    ...made,
    id: newId("passkey"),
    userId,
    name,
    createdAt: at,
    lastUsedAt: null,
    heldUntil: heldUntil(registration.approvedBy, at),
  };
  await database.transaction(async (tx) => {
    if (!(await insertPasskey(tx, passkey))) throw wrongRegistration();
    const what = `the passkey ${quoted(name)} was added`;
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
const rename = async (
  deps: PasskeysDeps,
  actor: UserActor,
  id: string,
  name: string,
): Promise<Passkey> => {
  const before = await find(deps, actor, id);
  await deps.database.transaction(async (tx) => {
    if (!(await renamePasskey(tx, actor.userId, id, name))) throw notFound();
    const data = { from: before.name, to: name };
    await recordAudit(tx, {
      ...doneBy(actor),
      action: "passkey.renamed",
      subject: id,
      data,
      at: deps.clock.now(),
    });
  });
  return { ...before, name };
};

/**
 * @throws DomainError `not_found`, `approval_required` and the other errors of `requireApproval`
 */
const remove = async (
  deps: PasskeysDeps,
  actor: UserActor,
  id: string,
  given: GivenApproval | undefined,
): Promise<void> => {
  const passkey = await find(deps, actor, id);
  const { name } = passkey;
  const approved = await deps.approvals.requireApproval(
    actor,
    removePasskeyChange(passkey),
    given,
  );
  const at = deps.clock.now();
  await deps.database.transaction(async (tx) => {
    await approved.consume(tx);
    if (!(await deletePasskey(tx, passkey))) throw notFound();
    const what = `the passkey ${quoted(name)} was removed`;
    const data = { name, ...approved.record };
    await recordFactorChange(tx, deps, actor, {
      action: "passkey.removed",
      subject: id,
      what,
      at,
      data,
    });
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
