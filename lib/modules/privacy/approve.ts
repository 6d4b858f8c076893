/** Approval and cancellation of private operations. Every function answers null when the operation is not a private one. */
import type { GivenCode } from "@/lib/contracts/proofs";
import { requireScope, type Actor, type UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { doneBy } from "@/lib/modules/audit/service";
import type { DecisionSubject } from "@/lib/modules/decisions/service";
import { createOperationSubject, type Operation } from "@/lib/modules/operations/service";
import type { CodeChannel, OtpSent } from "@/lib/modules/otp/service";
import type { PrivacyContext } from "./context";
import { notAwaitingApproval } from "./errors";
import type { PrivateTransfer } from "./private-transfer";
import { publicExits } from "./public-exit";
import { transferOfOperation } from "./read-transfers";
import { shields } from "./shield";
import { spends } from "./spend";
import { refuseCodeWhereVotes } from "./votes";

const stepsOf = ({ kind }: PrivateTransfer) =>
  kind === "shield" ? shields : kind === "public_exit" ? publicExits : spends;

/** @throws DomainError `invalid_state`, `quote_expired` */
const requireAwaiting = async (
  { operations, clock }: PrivacyContext,
  { projectId, operationId }: PrivateTransfer,
): Promise<void> => {
  const operation = await operations.get(projectId, operationId);
  if (operation.expiresAt !== null && operation.expiresAt <= clock.now())
    throw new DomainError("quote_expired", "Nobody approved this in time. Nothing was sent; start it again.");
  if (operation.status !== "pending" || operation.subStatus !== "awaiting_approval") throw notAwaitingApproval();
};

/** Sends the code that approves a waiting operation. @throws DomainError `insufficient_scope`, `invalid_state`, `quote_expired` */
export const requestApprovalCode = async (
  context: PrivacyContext,
  actor: Actor,
  operationId: string,
  channel?: CodeChannel,
): Promise<OtpSent | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null) return null;
  requireScope(actor, "privacy:write");
  await requireAwaiting(context, transfer);
  await refuseCodeWhereVotes(context, transfer);
  return context.otp.request({
    actor,
    subjectId: operationId,
    digest: transfer.digest,
    subject: "Your code to approve a private operation",
    lines: stepsOf(transfer).approvalLines(context, transfer),
    channel,
  });
};

/** Lets a waiting operation run. @throws DomainError `otp_*`, `invalid_state`, `quote_expired`, … */
export const approveTransfer = async (
  context: PrivacyContext,
  actor: UserActor,
  operationId: string,
  code: GivenCode,
): Promise<Operation | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null) return null;
  await requireAwaiting(context, transfer);
  await refuseCodeWhereVotes(context, transfer);
  const { digest } = transfer;
  const { otpId: codeId, means } = await context.otp.consume({ actor, subjectId: operationId, digest, code });
  if (!(await stepsOf(transfer).approve(context, actor, transfer, { means, codeId }))) throw notAwaitingApproval();
  return context.operations.get(actor.projectId, operationId);
};

/** Carries on, or ends, a private operation that people have voted on. */
export const privateSubject = (context: PrivacyContext): DecisionSubject =>
  createOperationSubject<PrivateTransfer>({
    operations: context.operations,
    clock: context.clock,
    find: (projectId, operationId) => transferOfOperation(context, projectId, operationId),
    run: (actor, transfer, { decisionId }) =>
      stepsOf(transfer).approve(context, actor, transfer, { means: "votes", decisionId }),
  });

/**
 * Ends an operation that spends notes, before its first proof is stored. Null for shields and public exits too: they are legs of the
 * treasury, which the operations module cancels.
 * @throws DomainError `insufficient_scope`, `invalid_state`
 */
export const cancelSpend = async (
  context: PrivacyContext,
  actor: Actor,
  operationId: string,
): Promise<Operation | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null || transfer.kind === "shield" || transfer.kind === "public_exit") return null;
  requireScope(actor, "privacy:write");
  const now = context.clock.now();
  const audit = { ...doneBy(actor), action: "operation.cancelled", subject: operationId, at: now };
  if (!(await context.repository.cancelSpend(transfer, audit, now)))
    throw new DomainError(
      "invalid_state",
      "This operation has begun or has ended and can no longer be cancelled. Nothing was changed; read it to see where the money is.",
    );
  return context.operations.get(actor.projectId, operationId);
};
