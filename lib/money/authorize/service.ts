/**
 * The only path by which one person's code, or another factor instead of a code, approves a
 * movement of money. A code is sent for exactly one waiting object, and entering that code starts
 * the object.
 */
import type { GivenCode } from "@/lib/contracts/proofs";
import type { Actor, UserActor } from "@/lib/core/actor";
import { isId, type IdKind } from "@/lib/core/ids";
import { requireApprover, requirePermission } from "@/lib/core/permissions";
import type { ApprovalsService } from "@/lib/trust/proofs/service";
import type { DecisionsService } from "@/lib/trust/decisions/service";
import type { CodeChannel, CodeMeans, OtpSent, OtpService } from "@/lib/trust/proofs/service";

export interface CodeProof {
  readonly codeId: string;
  readonly means: CodeMeans;
}

export interface Approvable {
  /** The code is valid only for this id and `digest`. */
  readonly id: string;
  /** SHA-256 of everything that is approved. */
  readonly digest: Uint8Array<ArrayBuffer>;
  readonly title: string;
  /** The approved movement in words. */
  readonly lines: () => readonly string[] | Promise<readonly string[]>;
  /** Called after the code was sent. */
  readonly noteSent?: () => Promise<void>;
}

/** A movement that waits until a person approves it. */
export interface AwaitingApproval extends Approvable {
  /** Type of the object in requests for votes; null when people never vote on such objects. */
  readonly votedAs: string | null;
  /**
   * Throws when the object could not run now. Called before the code is consumed, so that the code
   * still works once the cause is gone.
   */
  readonly check?: () => Promise<void>;
  /**
   * Starts the object.
   * @throws DomainError `invalid_state` when the object no longer waits
   */
  readonly approve: (proof: CodeProof) => Promise<void>;
}

type FindAwaiting = (actor: UserActor, id: string) => Promise<AwaitingApproval>;

/**
 * For each kind of id, the function that finds the waiting object with that id.
 * @throws DomainError `not_found`, `invalid_state`
 */
export type AwaitingFinders = Readonly<
  Record<"operation" | "payout" | "payoutSchedule", FindAwaiting>
>;

export interface AuthorizeDeps {
  readonly otp: Pick<OtpService, "request" | "consume">;
  readonly decisions: Pick<DecisionsService, "refuseCode">;
  readonly approvals: Pick<ApprovalsService, "requestCode">;
  readonly awaiting: AwaitingFinders;
  /**
   * Finds a quote or a transfer, which the caller prepares after requesting the code.
   * @throws DomainError `not_found`, `insufficient_scope`, `quote_expired`, `quote_already_used`
   */
  readonly quoted: (actor: Actor, id: string) => Promise<Approvable>;
}

const AWAITING: readonly (keyof AwaitingFinders & IdKind)[] = [
  "operation",
  "payout",
  "payoutSchedule",
];

/**
 * Finds the waiting object with this id, if one person may approve it with a code.
 * @throws DomainError `not_found`; `invalid_state` when the object does not wait, or needs votes
 */
const findAwaiting = async (
  { awaiting, decisions }: AuthorizeDeps,
  actor: UserActor,
  id: string,
): Promise<AwaitingApproval> => {
  const kind = AWAITING.find((each) => isId(each, id)) ?? "operation";
  const found = await awaiting[kind](actor, id);
  if (found.votedAs !== null)
    await decisions.refuseCode({
      projectId: actor.projectId,
      subject: { type: found.votedAs, id: found.id },
    });
  return found;
};

/** Sends codes for all kinds of movements, and approves movements with these codes. */
export const createAuthorize = (deps: AuthorizeDeps) => ({
  /**
   * Sends a code, or a passkey's challenge, that approves exactly the object with this id: a quote,
   * a transfer, a waiting operation, payout or schedule, or a change.
   * @throws DomainError `not_found`, `invalid_state`, `insufficient_scope`, `quote_expired`,
   * `quote_already_used`, `otp_channel_missing`, `rate_limited`, `provider_error`; `forbidden` for
   * a viewer, and for an API key when only a person can approve
   */
  requestCode: async (actor: Actor, id: string, channel?: CodeChannel): Promise<OtpSent> => {
    // Changes of settings are handled before the permission check, because viewers may approve
    // changes of their own settings.
    if (isId("approval", id)) return deps.approvals.requestCode(actor, id, channel);
    requirePermission(actor, "money:move");
    const isQuoted = isId("quote", id) || isId("transfer", id);
    const found = isQuoted
      ? await deps.quoted(actor, id)
      : await findAwaiting(deps, requireApprover(actor), id);
    const { digest, title: subject } = found;
    const lines = await found.lines();
    const sent = await deps.otp.request({
      actor,
      subjectId: found.id,
      digest,
      subject,
      lines,
      channel,
    });
    await found.noteSent?.();
    return sent;
  },

  /**
   * Starts a waiting object with the code that was sent for exactly this object.
   * @throws DomainError `not_found`, `forbidden`, `invalid_state`, `otp_*`, and the errors of
   * starting the movement
   */
  approve: async (actor: UserActor, id: string, code: GivenCode): Promise<void> => {
    requirePermission(actor, "money:move");
    const { id: subjectId, digest, check, approve } = await findAwaiting(deps, actor, id);
    await check?.();
    const { otpId: codeId, means } = await deps.otp.consume({ actor, subjectId, digest, code });
    await approve({ codeId, means });
  },
});
