import { createHash } from "node:crypto";
import {
  type ChangeKind,
  type Proof,
  proofsOf,
  RECOVERY_HOLD_HOURS,
} from "@/lib/contracts/approvable-changes";
import type { Hex } from "viem";
import {
  type ChainClients,
  isRecovered,
  verifySignedMessage,
} from "@/lib/chain/signed-message";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import { givenCode } from "@/lib/contracts/proofs";
import { bindDeps } from "@/lib/core/bind-deps";
import type { Actor, UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/platform/db/client";
import type { CodeChannel, CodeMeans, OtpSent, OtpService } from "./codes";
import type { ProjectsService } from "@/lib/trust/projects/service";
import type { EvmAddress } from "@/lib/core/evm";
import { approvalRequired, approvalUsed, proofNotTaken, wrongSignature } from "./errors";
import {
  type Approval,
  consumeApproval,
  findApproval,
  insertApproval,
} from "./approvals-repository";

type ChangeValue =
  | string
  | number
  | boolean
  | null
  | readonly ChangeValue[]
  | { readonly [key: string]: ChangeValue };

/** JSON with sorted keys, so that equal values have equal texts. */
const canonical = (value: ChangeValue): string => {
  if (Array.isArray(value))
    return `[${value.map((item: ChangeValue) => canonical(item)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value as Readonly<Record<string, ChangeValue>>).sort(
    ([a], [b]) => (a < b ? -1 : 1),
  );
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join(",")}}`;
};

const digestOf = (value: ChangeValue): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash("sha256").update(canonical(value)).digest());

interface ApprovalMessage {
  readonly approvalId: string;
  readonly publicUrl: string;
  readonly project: { readonly id: string; readonly name: string };
  /** Address with which the person signs in. */
  readonly person: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly expiresAt: Date;
}

/**
 * Characters that `JSON.stringify` leaves as they are, although they are invisible, break the line
 * (U+0085, U+2028, U+2029) or change the direction of writing.
 */
const HIDDEN = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string): string =>
  Array.from({ length: character.length }, (_, index) =>
    character.charCodeAt(index).toString(16).padStart(4, "0"),
  )
    .map((unit) => `\\u${unit}`)
    .join("");

/**
 * Puts a text that a caller chose on one visible line in quotes, so that it cannot imitate a line
 * of the message.
 */
export const quoted = (text: string): string => JSON.stringify(text).replace(HIDDEN, escaped);

/** The message that the wallet signs (EIP-191) and that the mail with the code shows. */
const approvalMessage = (message: ApprovalMessage): string =>
  [
    `${message.publicUrl} asks for your approval of a change.`,
    "",
    message.title,
    ...message.lines.map((line) => `- ${line}`),
    "",
    `Project: ${quoted(message.project.name)} (${message.project.id})`,
    `Account: ${message.person}`,
    `Approval: ${message.approvalId}`,
    `Expires: ${message.expiresAt.toISOString()}`,
    "",
    "This approves exactly this change, once. It sends no transaction.",
  ].join("\n");

/**
 * Mail to the verified address of a person whose recovery code approved a change. It is sent before
 * the change removes an address.
 */
const recoveryCodeNotice = (
  title: string,
  publicUrl: string,
): { readonly subject: string; readonly text: string } => ({
  subject: "A recovery code of your Causeway account was used",
  text: [
    `At ${publicUrl} a recovery code of your account approved this change: ${title}.`,
    "",
    `A factor that is added this way approves no payment and no other change for ${String(RECOVERY_HOLD_HOURS)} hours.`,
    "",
    "If this was you, do nothing.",
    `If not, sign in with your wallet at ${publicUrl}/settings/security#sign-in before that time ends, end all other sessions, and undo the change. Your wallet's signature approves that.`,
  ].join("\n"),
});

/**
 * A change that extends authority. Equal changes have equal `kind` and `values`; `lines` describes
 * all of `values` in words.
 */
export interface Change {
  /** The table of approvable changes lists the accepted proofs of each kind. */
  readonly kind: ChangeKind;
  /** One line, such as `Create an API key that moves money without a code`. */
  readonly title: string;
  /** Each value in words, one per line. Texts that a caller chose go through `quoted`. */
  readonly lines: readonly string[];
  /** All values of the change in a normalised form, and the state before it when that matters. */
  readonly values: ChangeValue;
}

export interface GivenApproval {
  readonly approvalId: string;
  readonly otp?: string | undefined;
  readonly totp?: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
  readonly signature?: string | undefined;
}

export interface Approved {
  readonly approvalId: string;
  readonly expiresAt: Date;
  readonly record: { readonly approvalId: string; readonly approvedBy: Proof };
  /**
   * Uses the approval. Call it in the transaction that makes the change.
   * @throws DomainError `invalid_state` when another request used it, or it expired
   */
  consume(tx: Tx): Promise<void>;
}

export interface ApprovalsService {
  /**
   * Checks that a code, a second factor or a signature of the person approves the change. It does
   * not make the change, but a correct code cannot be used again.
   * @example
   * const approved = await approvals.requireApproval(actor, change, body.approval);
   * await database.transaction(async (tx) => { await approved.consume(tx); … });
   * @throws DomainError `approval_required` with a new approval when the given one is missing, is
   * for another change, belongs to another person, or has expired; `forbidden` when the change
   * does not accept this proof; `invalid_state` when the approval was used; `otp_*`,
   * `invalid_signature`, `chain_unavailable`
   */
  requireApproval(
    actor: UserActor,
    change: Change,
    given: GivenApproval | undefined,
  ): Promise<Approved>;
  /**
   * Mails the code that approves the change, or returns the challenge for a passkey.
   * @throws DomainError `not_found`, `invalid_state`, `otp_channel_missing`, `rate_limited`,
   * `provider_error`
   */
  requestCode(actor: Actor, approvalId: string, channel?: CodeChannel): Promise<OtpSent>;
  /**
   * Checks the person's proof for exactly this object: a code, a second factor, or a signature of
   * `message` by the sign-in wallet (EIP-191, ERC-1271, ERC-6492). A correct code cannot be used
   * again.
   * @throws DomainError `otp_*`, `invalid_signature`, `chain_unavailable`
   */
  prove(actor: UserActor, subject: ProvenSubject, given: GivenProof): Promise<Proven>;
}

type GivenProof = Omit<GivenApproval, "approvalId">;

interface ProvenSubject {
  readonly id: string;
  /** SHA-256 of everything that is approved. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly message: string;
  /** The request field that contains the signature, for errors. */
  readonly path: string;
}

export interface Proven {
  readonly means: CodeMeans | "signature";
  /** Id of the one-time code, for audit rows; null for a signature. */
  readonly codeId: string | null;
}

interface ApprovalsDeps {
  readonly database: Database;
  readonly otp: Pick<OtpService, "request" | "consume">;
  readonly people: {
    /**
     * The person's sign-in wallet. Linked wallets do not approve, because a stolen token could link
     * one.
     */
    signInWallet(
      userId: string,
    ): Promise<{ readonly address: string; readonly contractChainId: number | null } | null>;
    verifiedEmail(userId: string, tx?: Tx): Promise<string | null>;
  };
  readonly projects: Pick<ProjectsService, "list" | "tellPerson">;
  readonly registry: ChainClients;
  readonly publicUrl: string;
  readonly clock: Clock;
}

const APPROVAL_SECONDS = 600;
const SECONDS_PER_HOUR = 3600;

/**
 * The time before which a factor that was added with this proof approves nothing; null for a proof
 * that causes no wait.
 */
export const heldUntil = (approvedBy: string | null, addedAt: Date): Date | null =>
  approvedBy === "recovery_code"
    ? addSeconds(addedAt, RECOVERY_HOLD_HOURS * SECONDS_PER_HOUR)
    : null;

const proofIn = ({ otp, totp, passkey, recoveryCode }: GivenApproval): Proof => {
  if (otp !== undefined) return "code";
  if (totp !== undefined) return "totp";
  if (passkey !== undefined) return "passkey";
  return recoveryCode === undefined ? "signature" : "recovery_code";
};

const walletOf = async (deps: ApprovalsDeps, userId: string) => {
  const wallet = await deps.people.signInWallet(userId);
  if (wallet === null) throw notFound();
  return wallet;
};

const checkSignature = async (
  deps: ApprovalsDeps,
  userId: string,
  { message, path }: ProvenSubject,
  signature: string,
): Promise<void> => {
  const { address, contractChainId } = await walletOf(deps, userId);
  const signed = { address: address as EvmAddress, message, signature: signature as Hex };
  // As when signing in, a plain account signs for every chain. A contract signs only on the chain
  // of its first sign-in.
  const isRight =
    contractChainId === null
      ? await isRecovered(signed)
      : (await verifySignedMessage({ ...signed, chainId: contractChainId }, deps.registry)) ===
        "contract";
  if (!isRight) throw wrongSignature(address, path);
};

const prove = async (
  deps: ApprovalsDeps,
  actor: UserActor,
  subject: ProvenSubject,
  given: GivenProof,
): Promise<Proven> => {
  const code = givenCode(given);
  if (code === undefined) {
    await checkSignature(deps, actor.userId, subject, given.signature ?? "0x");
    return { means: "signature", codeId: null };
  }
  const { id: subjectId, digest } = subject;
  const { otpId: codeId, means } = await deps.otp.consume({ actor, subjectId, digest, code });
  return { means, codeId };
};

/**
 * The service of approvals. An approval is for one change of authority, bound to its values by a
 * digest, valid for ten minutes and usable once.
 */
export const createApprovalsService = (deps: ApprovalsDeps): ApprovalsService => {
  const { database, clock } = deps;

  const ask = async (
    actor: UserActor,
    change: Change,
    digest: Uint8Array<ArrayBuffer>,
  ): Promise<Approval> => {
    const { projectId, userId } = actor;
    const [wallet, memberships] = await Promise.all([
      walletOf(deps, userId),
      deps.projects.list(userId),
    ]);
    const name =
      memberships.find((membership) => membership.projectId === projectId)?.name ?? "";
    const id = newId("approval");
    const createdAt = clock.now();
    const expiresAt = addSeconds(createdAt, APPROVAL_SECONDS);
    const { title, lines, kind } = change;
    const project = { id: projectId, name };
    const asked = {
      approvalId: id,
      publicUrl: deps.publicUrl,
      project,
      person: wallet.address,
    };
    const message = approvalMessage({ ...asked, title, lines, expiresAt });
    const approval = { id, projectId, userId, kind, digest, message, createdAt, expiresAt };
    await insertApproval(database.prisma, approval);
    return { ...approval, consumedAt: null };
  };

  const find = async ({ projectId, userId }: UserActor, id: string): Promise<Approval | null> =>
    isId("approval", id) ? findApproval(database.prisma, { projectId, userId, id }) : null;

  /**
   * Mails the person that a recovery code approved the change, in the transaction that uses the
   * approval.
   */
  const tellOfRecovery = async (tx: Tx, userId: string, title: string): Promise<void> => {
    const to = await deps.people.verifiedEmail(userId, tx);
    if (to === null) return;
    await deps.projects.tellPerson(tx, {
      userId,
      to,
      ...recoveryCodeNotice(title, deps.publicUrl),
    });
  };

  const requireApproval: ApprovalsService["requireApproval"] = async (actor, change, given) => {
    const { projectId, userId } = actor;
    const { kind, values } = change;
    const digest = digestOf({ kind, projectId, userId, values });
    const found = given === undefined ? null : await find(actor, given.approvalId);
    const fits =
      found !== null &&
      Buffer.from(found.digest).equals(digest) &&
      found.expiresAt > clock.now();
    if (given === undefined || !fits)
      throw approvalRequired(await ask(actor, change, digest), kind);
    if (found.consumedAt !== null) throw approvalUsed();
    // The kind of proof is checked before the proof itself, because a proof cannot be used again
    // after its check.
    if (!proofsOf(kind).includes(proofIn(given)))
      throw proofNotTaken(proofIn(given), proofsOf(kind));
    const { means: by } = await prove(
      deps,
      actor,
      { ...found, path: "approval.signature" },
      given,
    );
    return {
      approvalId: found.id,
      expiresAt: found.expiresAt,
      record: { approvalId: found.id, approvedBy: by },
      consume: async (tx) => {
        if (!(await consumeApproval(tx, { ...found, by, now: clock.now() })))
          throw approvalUsed();
        if (by === "recovery_code") await tellOfRecovery(tx, userId, change.title);
      },
    };
  };

  return {
    requireApproval,
    prove: bindDeps(deps, prove),
    requestCode: async (actor, approvalId, channel) => {
      const approval = actor.type === "user" ? await find(actor, approvalId) : null;
      if (approval === null) throw notFound();
      if (approval.consumedAt !== null || approval.expiresAt <= clock.now())
        throw approvalUsed();
      return deps.otp.request({
        actor,
        subjectId: approval.id,
        digest: approval.digest,
        subject: "Your code to approve a change",
        lines: approval.message.split("\n"),
        channel,
      });
    },
  };
};
