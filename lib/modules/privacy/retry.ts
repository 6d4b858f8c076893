import type { Actor } from "@/lib/core/actor";
import { formatAmount } from "@/lib/core/money";
import { isRetryable, mayRetry } from "@/lib/modules/operations/service";
import type { PrivacyContext } from "./context";
import { nothingToRetry, triedAlready } from "./errors";
import type { PrivateStep } from "./private-step";
import type { PrivateTransfer } from "./private-transfer";
import { publicExits } from "./public-exit";
import { shields } from "./shield";
import { spends } from "./spend";
import type { FailedAmounts } from "./spend-request";

/** Adds up the failed steps whose notes were certainly not spent. */
const failedAmounts = (steps: readonly PrivateStep[]): FailedAmounts => {
  const failed = steps.filter(({ state, failure }) => state === "failed" && isRetryable(failure));
  return {
    withdrawBase: failed.reduce((sum, { withdrawBase }) => sum + withdrawBase, 0n),
    outBase: failed.reduce((sum, { outBase }) => sum + outBase, 0n),
  };
};

/**
 * Does the failed part of an ended private operation again, as a new operation under the caller's own policy.
 * @returns the new transfer's id
 * @throws DomainError `invalid_state`, `insufficient_balance`, `quote_price_moved`, …: as the operation's own kind does
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
    return shields.create(context, actor, { chainId, token: token.address, amount, privacyWalletId }, own);
  }
  if (transfer.kind === "public_exit")
    return publicExits.create(context, actor, { chainId, noteId: transfer.noteId ?? "", privacyWalletId }, own);
  const failed = failedAmounts(await context.repository.steps(projectId, operationId));
  if (failed.outBase === 0n) throw nothingToRetry();
  return spends.retry(context, actor, transfer, failed);
};
