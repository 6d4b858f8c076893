import type { Hex } from "viem";
import { isRecovered, verifySignedMessage, type ChainClients } from "@/lib/chains/signed-message";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import { givenCode } from "@/lib/contracts/proofs";
import type { Actor, UserActor } from "@/lib/core/actor";
import { addSeconds, type Clock } from "@/lib/core/clock";
import { notFound } from "@/lib/core/errors";
import { isId, newId } from "@/lib/core/ids";
import type { Database, Tx } from "@/lib/db/client";
import type { CodeChannel, OtpSent, OtpService } from "@/lib/modules/otp/service";
import type { ProjectsService } from "@/lib/modules/projects/service";
import type { EvmAddress } from "@/lib/ports/routing";
import { digestOf, type ChangeValue } from "./digest";
import { approvalRequired, approvalUsed, wrongSignature } from "./errors";
import { approvalMessage, quoted } from "./message";
import { consumeApproval, findApproval, insertApproval, type Approval, type ApprovalMeans } from "./repository";

/** A change that widens authority. Equal changes have equal `kind` and `values`; `lines` says everything in `values` in words. */
export interface Change {
  /** `api_key.create`, `policy.update`, … */
  readonly kind: string;
  /** The change in one line: `Create an API key that moves money without a code`. */
  readonly title: string;
  /** Each value in words, a line each. Texts that a caller chose go through `quoted`. */
  readonly lines: readonly string[];
  /** Every value of the change, normalised, and the state that it starts from where that matters. */
  readonly values: ChangeValue;
}

/** An approval as a request gives it. */
export interface GivenApproval {
  readonly approvalId: string;
  readonly otp?: string | undefined;
  readonly totp?: string | undefined;
  readonly recoveryCode?: string | undefined;
  readonly passkey?: PasskeyAssertion | undefined;
  readonly signature?: string | undefined;
}

/** A change that was approved, and not carried out yet. */
export interface Approved {
  readonly approvalId: string;
  readonly expiresAt: Date;
  /** For the audit row of the change. */
  readonly record: { readonly approvalId: string; readonly approvedBy: ApprovalMeans };
  /**
   * Uses the approval up. Call it in the transaction that carries the change out.
   * @throws DomainError `invalid_state` when another request used it, or it expired
   */
  consume(tx: Tx): Promise<void>;
}

export interface ApprovalsService {
  /**
   * Lets a change pass that the person has approved by a code, a second factor or a signature. Makes no change itself, but uses a right code up.
   * @example
   *     const approved = await approvals.requireApproval(actor, change, body.approval);
   *     await database.transaction(async (tx) => { await approved.consume(tx); … });
   * @throws DomainError `approval_required` with a new approval where none was given, or the given one is for something else, of
   *   somebody else, or has expired; `invalid_state` when it was used; `otp_*`, `invalid_signature`, `chain_unavailable`
   */
  requireApproval(actor: UserActor, change: Change, given: GivenApproval | undefined): Promise<Approved>;
  /**
   * Mails the code that approves the change, or gives the challenge that a passkey signs.
   * @throws DomainError `not_found`, `invalid_state`, `otp_channel_missing`, `rate_limited`, `provider_error`
   */
  requestCode(actor: Actor, approvalId: string, channel?: CodeChannel): Promise<OtpSent>;
  /**
   * Checks that the wallet that the person signs in with signed the message (EIP-191, ERC-1271, ERC-6492).
   * @throws DomainError `invalid_signature` naming `path`, `chain_unavailable`
   */
  checkSignature(signed: SignedByPerson): Promise<void>;
}

export interface SignedByPerson {
  readonly userId: string;
  readonly message: string;
  readonly signature: string;
  /** The field of the request that has the signature. */
  readonly path: string;
}

export interface ApprovalsDeps {
  readonly database: Database;
  readonly otp: Pick<OtpService, "request" | "consume">;
  readonly people: {
    /** The wallet that the person signs in with. Wallets that they linked do not approve: a stolen token could link one. */
    signInWallet(userId: string): Promise<{ readonly address: string; readonly contractChainId: number | null } | null>;
  };
  readonly projects: Pick<ProjectsService, "list">;
  readonly registry: ChainClients;
  readonly publicUrl: string;
  readonly clock: Clock;
}

const APPROVAL_SECONDS = 600;

export { quoted };
export type { ApprovalMeans };

const walletOf = async (deps: ApprovalsDeps, userId: string) => {
  const wallet = await deps.people.signInWallet(userId);
  if (wallet === null) throw notFound();
  return wallet;
};

const createSignatureCheck =
  (deps: ApprovalsDeps): ApprovalsService["checkSignature"] =>
  async ({ userId, message, signature, path }) => {
    const { address, contractChainId } = await walletOf(deps, userId);
    const signed = { address: address as EvmAddress, message, signature: signature as Hex };
    // As for signing in: a plain account signs by itself on every chain, a contract on the chain of its first sign-in.
    const isRight =
      contractChainId === null
        ? await isRecovered(signed)
        : (await verifySignedMessage({ ...signed, chainId: contractChainId }, deps.registry)) === "contract";
    if (!isRight) throw wrongSignature(address, path);
  };

/** The service of approvals: one for each change of authority, bound to its values by a digest, valid for ten minutes and used up once. */
export const createApprovalsService = (deps: ApprovalsDeps): ApprovalsService => {
  const { database, clock } = deps;
  const checkSignature = createSignatureCheck(deps);

  const ask = async (actor: UserActor, change: Change, digest: Uint8Array<ArrayBuffer>): Promise<Approval> => {
    const { projectId, userId } = actor;
    const [wallet, memberships] = await Promise.all([walletOf(deps, userId), deps.projects.list(userId)]);
    const name = memberships.find((membership) => membership.projectId === projectId)?.name ?? "";
    const id = newId("approval");
    const createdAt = clock.now();
    const expiresAt = addSeconds(createdAt, APPROVAL_SECONDS);
    const { title, lines, kind } = change;
    const project = { id: projectId, name };
    const asked = { approvalId: id, publicUrl: deps.publicUrl, project, person: wallet.address };
    const message = approvalMessage({ ...asked, title, lines, expiresAt });
    const approval = { id, projectId, userId, kind, digest, message, createdAt, expiresAt };
    await insertApproval(database.prisma, approval);
    return { ...approval, consumedAt: null };
  };

  const find = async ({ projectId, userId }: UserActor, id: string): Promise<Approval | null> =>
    isId("approval", id) ? findApproval(database.prisma, { projectId, userId, id }) : null;

  const check = async (actor: UserActor, approval: Approval, given: GivenApproval): Promise<ApprovalMeans> => {
    const code = givenCode(given);
    if (code === undefined) {
      const { userId, message } = approval;
      await checkSignature({ userId, message, signature: given.signature ?? "0x", path: "approval.signature" });
      return "signature";
    }
    const { means } = await deps.otp.consume({ actor, subjectId: approval.id, digest: approval.digest, code });
    return means;
  };

  const requireApproval: ApprovalsService["requireApproval"] = async (actor, change, given) => {
    const { projectId, userId } = actor;
    const { kind, values } = change;
    const digest = digestOf({ kind, projectId, userId, values });
    const found = given === undefined ? null : await find(actor, given.approvalId);
    const fits = found !== null && Buffer.from(found.digest).equals(digest) && found.expiresAt > clock.now();
    if (given === undefined || !fits) throw approvalRequired(await ask(actor, change, digest));
    if (found.consumedAt !== null) throw approvalUsed();
    const by = await check(actor, found, given);
    return {
      approvalId: found.id,
      expiresAt: found.expiresAt,
      record: { approvalId: found.id, approvedBy: by },
      consume: async (tx) => {
        if (!(await consumeApproval(tx, { ...found, by, now: clock.now() }))) throw approvalUsed();
      },
    };
  };

  return {
    requireApproval,
    checkSignature,
    requestCode: async (actor, approvalId, channel) => {
      const approval = actor.type === "user" ? await find(actor, approvalId) : null;
      if (approval === null) throw notFound();
      if (approval.consumedAt !== null || approval.expiresAt <= clock.now()) throw approvalUsed();
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
