import type { Actor } from "@/lib/core/actor";
import { formatAmount } from "@/lib/core/money";
import { toBigInt } from "@/lib/db/decimal";
import { isRetryable, mayRetry } from "@/lib/modules/operations/service";
import { storedToken } from "@/lib/ports/routing-json";
import type { PrivacyContext } from "./context";
import { nothingToRetry, triedAlready } from "./errors";
import type { createExiting } from "./exiting";
import type { StepRow, TransferRow } from "./repository";
import type { createShielding } from "./shielding";
import type { Missing, Spending } from "./spending";

interface Ways {
  readonly shielding: ReturnType<typeof createShielding>;
  readonly exiting: ReturnType<typeof createExiting>;
  readonly spending: Spending;
}

/** Adds up what did not arrive: failed steps whose notes were certainly not spent. */
const missingOf = (steps: readonly StepRow[]): Missing => {
  const failed = steps.filter(({ state, failure }) => state === "failed" && isRetryable(failure));
  const sum = (of: (step: StepRow) => bigint): bigint => failed.reduce((total, step) => total + of(step), 0n);
  return {
    withdrawBase: sum(({ withdrawBase }) => toBigInt(withdrawBase)),
    outBase: sum(({ outBase }) => toBigInt(outBase)),
  };
};

/** Does once more what failed of a private operation that has ended, as a new operation under the caller's own policy. */
export const createRetrying = (context: PrivacyContext, { shielding, exiting, spending }: Ways) => {
  const again = async (actor: Actor, transfer: TransferRow): Promise<string> => {
    const { chainId, walletId: privacyWalletId, operationId } = transfer;
    const token = storedToken.parse(transfer.token);
    if (transfer.kind === "shield") {
      const amount = formatAmount(toBigInt(transfer.amountBase), token.decimals);
      return shielding.create(actor, { chainId, token: token.address, amount, privacyWalletId }, null, operationId);
    }
    if (transfer.kind === "public_exit") {
      const noteId = transfer.noteId ?? "";
      return exiting.create(actor, { chainId, noteId, privacyWalletId }, null, operationId);
    }
    const missing = missingOf(await context.repository.steps(transfer.projectId, operationId));
    if (missing.outBase === 0n) throw nothingToRetry();
    return spending.retry(actor, transfer, missing);
  };

  /**
   * @returns the new transfer's id
   * @throws DomainError `invalid_state`, `insufficient_balance`, `quote_price_moved`, …: as the operation's own kind does
   */
  return async (actor: Actor, transfer: TransferRow): Promise<string> => {
    const operation = await context.operations.get(transfer.projectId, transfer.operationId);
    if (operation.retriedBy !== null) throw triedAlready(operation.retriedBy);
    if (!mayRetry(operation)) throw nothingToRetry();
    return again(actor, transfer);
  };
};
