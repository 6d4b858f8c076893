/**
 * The only way in which a person's code, or a factor instead of a code, approves a movement of
 * money: the waiting object is found by its id, a code for exactly this object is sent, and the
 * code lets it run.
 */
import type { GivenCode } from "@/lib/contracts/proofs";
import type { Actor, UserActor } from "@/lib/core/actor";
import { isId, type IdKind } from "@/lib/core/ids";
import { requireApprover, requirePermission } from "@/lib/core/permissions";
import type { ApprovalsService } from "@/lib/trust/proofs/service";
import type { DecisionsService } from "@/lib/trust/decisions/service";
import type { CodeChannel, CodeMeans, OtpSent, OtpService } from "@/lib/trust/proofs/service";

/** The code, or the factor used instead, that approved a movement. */
export interface CodeProof {
  readonly codeId: string;
  readonly means: CodeMeans;
}

/** An object that one code approves. */
export interface Approvable {
  /** Id of the object. The code is valid only for this id and `digest`. */
  readonly id: string;
  /** SHA-256 of everything that is approved. */
  readonly digest: Uint8Array<ArrayBuffer>;
  /** Subject of the mail. */
  readonly title: string;
  /** The approved movement in words. */
  readonly lines: () => readonly string[] | Promise<readonly string[]>;
  /** Called after the code was sent. */
  readonly noteSent?: () => Promise<void>;
}

/** A movement that waits until a person approves it. */
export interface AwaitingApproval extends Approvable {
  /** The kind under which requests for votes name the object; null when people never vote on it. */
  readonly votedAs: string | null;
  /**
   * Throws when the object could not run now. Called before the code is used, so that the code
   * still works once the cause is gone.
   */
  readonly check?: () => Promise<void>;
  /**
   * Approves the object, so that it is executed.
   * @throws DomainError `invalid_state` when it no longer waits
   */
  readonly approve: (proof: CodeProof) => Promise<void>;
}

type FindAwaiting = (actor: UserActor, id: string) => Promise<AwaitingApproval>;

/**
 * Finds waiting objects by the kind of their id. @throws DomainError `not_found`, `invalid_state`
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
   * Finds a quote or a transfer, which the caller prepares after the code.
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
 * @throws DomainError `not_found`; `invalid_state` when it does not wait, or people have to vote on
 * it
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

/** The service that sends codes and approves with them, over all kinds of movements. */
export const createAuthorize = (deps: AuthorizeDeps) => ({
  /**
   * Sends a code, or a passkey's challenge, that approves exactly the object with this id: a quote,
   * a transfer, a waiting operation, payout or schedule, or a change.
   * @throws DomainError `not_found`, `invalid_state`, `insufficient_scope`, `quote_expired`,
   * `quote_already_used`, `otp_channel_missing`, `rate_limited`, `provider_error`; `forbidden` for
   * a viewer, and for an API key when only a person can approve
   */
  requestCode: async (actor: Actor, id: string, channel?: CodeChannel): Promise<OtpSent> => {
    // Viewers may approve changes of their own settings.
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
   * Lets a waiting object run, with the code that was sent for exactly this object.
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
