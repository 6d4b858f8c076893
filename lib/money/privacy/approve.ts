import { type Actor, requireScope, type UserActor } from "@/lib/core/actor";
import { DomainError } from "@/lib/core/errors";
import { MOVEMENT_KINDS } from "@/lib/core/movement-kinds";
import { doneBy } from "@/lib/news/audit/service";
import type { AwaitingApproval } from "@/lib/money/authorize/service";
import type { DecisionSubject } from "@/lib/trust/decisions/service";
import {
  createOperationSubject,
  isRetryable,
  mayRetry,
  type Operation,
} from "@/lib/money/operations/service";
import { type PrivacyContext, subjectOf } from "./context";
import { notAwaitingApproval, nothingToRetry, triedAlready } from "./errors";
import type { PrivateStep, PrivateTransfer } from "./rows";
import { publicExits } from "./public-exit";
import { transferOfOperation } from "./read-transfers";
import { shields } from "./shield";
import { spends } from "./spend";
import { formatAmount } from "@/lib/core/money";
import type { FailedAmounts } from "./spend-request";

// Approval, cancellation and retry of private operations. A function that takes an operation's id
// returns null when that operation is not private.

const stepsOf = ({ kind }: PrivateTransfer) =>
  kind === "shield" ? shields : kind === "public_exit" ? publicExits : spends;

/**
 * Checks that the operation awaits approval and that the approval is not too late.
 * @throws DomainError `invalid_state`, `quote_expired`
 */
const requireAwaiting = async (
  { operations, clock }: PrivacyContext,
  { projectId, operationId }: PrivateTransfer,
): Promise<void> => {
  const operation = await operations.get(projectId, operationId);
  if (operation.expiresAt !== null && operation.expiresAt <= clock.now())
    throw new DomainError(
      "quote_expired",
      "Nobody approved this in time. Nothing was sent; start it again.",
    );
  if (operation.status !== "pending" || operation.subStatus !== "awaiting_approval")
    throw notAwaitingApproval();
};

/**
 * The values of a waiting private operation that a one-time code approves, and the function that
 * approves the operation. Null when the operation is not private.
 * @throws DomainError `invalid_state`, `quote_expired`
 */
export const awaitingTransfer = async (
  context: PrivacyContext,
  actor: UserActor,
  operationId: string,
): Promise<AwaitingApproval | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null) return null;
  await requireAwaiting(context, transfer);
  const steps = stepsOf(transfer);
  return {
    id: operationId,
    digest: transfer.digest,
    title: `Your code to approve a ${MOVEMENT_KINDS[transfer.kind].codeFor}`,
    lines: () => steps.approvalLines(context, transfer),
    votedAs: subjectOf(operationId).type,
    approve: async (proof) => {
      if (!(await steps.approve(context, actor, transfer, proof))) throw notAwaitingApproval();
    },
  };
};

export const privateSubject = (context: PrivacyContext): DecisionSubject =>
  createOperationSubject<PrivateTransfer>({
    operations: context.operations,
    clock: context.clock,
    find: (projectId, operationId) => transferOfOperation(context, projectId, operationId),
    run: (actor, transfer, { decisionId }) =>
      stepsOf(transfer).approve(context, actor, transfer, { means: "votes", decisionId }),
  });

/**
 * Cancels an operation that spends notes, before its first proof is stored. Returns null for other
 * operations, and also for shields and public exits: their legs belong to the treasury, so the
 * operations module cancels them.
 * @throws DomainError `insufficient_scope`, `invalid_state`
 */
export const cancelSpend = async (
  context: PrivacyContext,
  actor: Actor,
  operationId: string,
): Promise<Operation | null> => {
  const transfer = await transferOfOperation(context, actor.projectId, operationId);
  if (transfer === null || transfer.kind === "shield" || transfer.kind === "public_exit")
    return null;
  requireScope(actor, "privacy:write");
  const now = context.clock.now();
  const audit = {
    ...doneBy(actor),
    action: "operation.cancelled",
    subject: operationId,
    at: now,
  };
  if (!(await context.repository.cancelSpend(transfer, audit, now)))
    throw new DomainError(
      "invalid_state",
      "This operation has begun or has ended and can no longer be cancelled. Nothing was changed; read it to see where the money is.",
    );
  return context.operations.get(actor.projectId, operationId);
};

/** Sums the failed steps whose notes are certainly unspent. */
const failedAmounts = (steps: readonly PrivateStep[]): FailedAmounts => {
  const failed = steps.filter(
    ({ state, failure }) => state === "failed" && isRetryable(failure),
  );
  return {
    withdrawBase: failed.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n),
    outBase: failed.reduce((sum, { outBase }) => sum + outBase, 0n),
  };
};

/**
 * Repeats the failed part of an ended private operation as a new operation, under the policy of the
 * caller.
 * @returns the new transfer's id
 * @throws DomainError `invalid_state`, `insufficient_balance`, `quote_price_moved`, and the other
 * errors of the operation's kind
 */
export const retryTransfer = async (
  context: PrivacyContext,
  actor: Actor,
  transfer: PrivateTransfer,
): Promise<string> => {
  const { projectId, operationId, chainId, token, walletId: privacyWalletId } = transfer;
  const operation = await context.operations.get(projectId, operationId);
  if (operation.retriedBy !== null) throw triedAlready(operation.retriedBy);
  if (!mayRetry(operation)) throw nothingToRetry();
  const own = { idempotency: null, retryOf: operationId };
  if (transfer.kind === "shield") {
    const amount = formatAmount(transfer.amountBase, token.decimals);
    return shields.create(
      context,
      actor,
      { chainId, token: token.address, amount, privacyWalletId },
      own,
    );
  }
  if (transfer.kind === "public_exit")
    return publicExits.create(
      context,
      actor,
      { chainId, noteId: transfer.noteId ?? "", privacyWalletId },
      own,
    );
  const failed = failedAmounts(await context.repository.steps(projectId, operationId));
  if (failed.outBase === 0n) throw nothingToRetry();
  return spends.retry(context, actor, transfer, failed);
};
