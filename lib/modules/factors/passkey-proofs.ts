import { randomBytes } from "node:crypto";
import type { PasskeyAssertion, PasskeyRequest } from "@/lib/contracts/passkey-records";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { DomainError } from "@/lib/core/errors";
import type { Database, Tx } from "@/lib/db/client";
import { recordAudit } from "@/lib/modules/audit/service";
import type { Passkey } from "./passkey";
import {
  advanceCounter,
  findByCredential,
  insertChallenge,
  listPasskeys,
  takeChallenge,
  type ChallengeFor,
} from "./passkey-repository";
import { noPasskey, wrongPasskey } from "./errors";
import { challengeOf, readAssertion, type RelyingParty } from "./webauthn";

export const CHALLENGE_SECONDS = 300;
const NONCE_BYTES = 32;

export interface PasskeyProofsDeps {
  readonly database: Database;
  readonly party: RelyingParty;
  readonly clock: Clock;
}

/** The subject that a person approves by a passkey. */
export interface PasskeySubject {
  readonly userId: string;
  readonly subjectId: string;
  readonly digest: Uint8Array;
}

export interface AskedPasskey {
  readonly request: PasskeyRequest;
  readonly expiresAt: Date;
}

/** Stores a challenge: for an approval the digest of what is approved, and then 32 random bytes. */
export const newChallenge = async (
  { database, clock }: Pick<PasskeyProofsDeps, "database" | "clock">,
  asked: ChallengeFor,
): Promise<{ readonly challenge: Buffer; readonly expiresAt: Date }> => {
  const challenge = Buffer.concat([asked.digest ?? new Uint8Array(), randomBytes(NONCE_BYTES)]);
  const createdAt = clock.now();
  const expiresAt = addSeconds(createdAt, CHALLENGE_SECONDS);
  await insertChallenge(database.prisma, { ...asked, challenge, createdAt, expiresAt });
  return { challenge, expiresAt };
};

const requestOf = ({ id: rpId }: RelyingParty, challenge: Buffer, passkeys: readonly Passkey[]): PasskeyRequest => ({
  challenge: challenge.toString("base64url"),
  rpId,
  allowCredentials: passkeys.map(({ credentialId, transports }) => ({
    id: credentialId,
    type: "public-key",
    transports: [...transports],
  })),
  userVerification: "required",
  timeout: CHALLENGE_SECONDS * 1000,
});

type Checked = { readonly passkey: Passkey } | { readonly refused: DomainError };

/** Stores the counter, or records that a copy of the passkey may exist. */
const checkCounter = async (tx: Tx, passkey: Passkey, used: { counter: bigint; at: Date }): Promise<Checked> => {
  if (await advanceCounter(tx, passkey, used)) return { passkey };
  const { userId: actor, id: subject } = passkey;
  const data = { stored: String(passkey.counter), received: String(used.counter) };
  const entry = { projectId: null, actor, action: "passkey.clone_suspected", subject, data, at: used.at };
  await recordAudit(tx, { ...entry, request: null });
  return { refused: wrongPasskey("This passkey may have been copied: its counter went back. Remove it in Settings.") };
};

/**
 * Checks a passkey's signature, and uses its challenge up whether the signature is right or wrong. Call it in a transaction that
 * commits in both cases.
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
    return { refused: wrongPasskey("The passkey signed another request, or this one was used or has expired.") };
  const passkey = await findByCredential(tx, assertion.id);
  if (passkey === null || (asked.userId !== null && passkey.userId !== asked.userId))
    return { refused: wrongPasskey("This passkey is not known here. It may have been removed.") };
  const counter = await readAssertion(party, assertion, { passkey, challenge });
  if (counter === null) return { refused: wrongPasskey("The signature is not one of this passkey for this service.") };
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
  const signIn: ChallengeFor = { purpose: "sign_in", userId: null, subject: null, digest: null };

  return {
    /** A challenge that one of the person's passkeys signs to approve exactly this. @throws DomainError `invalid_state` without a passkey */
    askApproval: async (subject: PasskeySubject): Promise<AskedPasskey> => {
      const passkeys = await listPasskeys(deps.database.prisma, subject.userId);
      if (passkeys.length === 0) throw noPasskey();
      const { challenge, expiresAt } = await newChallenge(deps, approval(subject));
      return { request: requestOf(deps.party, challenge, passkeys), expiresAt };
    },
    /** Checks an approval. The caller's transaction has to commit in both cases. */
    checkApproval: (tx: Tx, subject: PasskeySubject, assertion: PasskeyAssertion): Promise<Checked> =>
      checkAssertion(tx, deps, assertion, approval(subject)),
    /** A challenge for a sign-in by any passkey. */
    askSignIn: async (): Promise<PasskeyRequest> =>
      requestOf(deps.party, (await newChallenge(deps, signIn)).challenge, []),
    /** @throws DomainError `invalid_signature` */
    checkSignIn: async (assertion: PasskeyAssertion): Promise<Passkey> => {
      const checked = await deps.database.transaction((tx) => checkAssertion(tx, deps, assertion, signIn));
      if ("refused" in checked) throw checked.refused;
      return checked.passkey;
    },
  };
};

export type PasskeyProofs = ReturnType<typeof createPasskeyProofs>;
