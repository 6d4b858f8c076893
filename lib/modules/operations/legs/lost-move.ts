/** Finds out whether a leg that a restored database has as queued was executed before, or was paid by another operation in its place. */
import { isDomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Failure } from "@/lib/modules/operations/leg";
import type { ManagedAccount } from "@/lib/modules/smart-accounts/service";
import { REPLACED } from "./replaced";
import type { Step } from "./step";

const PAID_BY_LOST_MOVE: Failure = {
  code: REPLACED.code,
  message:
    "Before the database was restored, another operation paid this recipient, so nothing was signed. It may have been this payment: look at the chain before you pay again.",
  retryable: false,
};

/**
 * A transfer counts as paid where a lost move paid its recipient the same amount of the same token. The amount that a swap or a bridge delivers differs
 * each time, so there any lost payment to the recipient counts.
 */
const isPaid = async ({ lostMoves, operation, request, routeLeg, leg }: Step): Promise<boolean> => {
  const { projectId } = operation;
  const { recipient } = request.destination;
  const source = request.sources[routeLeg.sourceIndex];
  if (routeLeg.kind === "transfer" && source !== undefined) {
    const { address, chainId, decimals } = source.token;
    const payments = [{ recipient, amount: formatAmount(leg.amountBase, decimals) }];
    return lostMoves.hasPaid({ projectId, chainId, token: address, payments });
  }
  try {
    await lostMoves.requireUnpaid(projectId, [recipient]);
    return false;
  } catch (error) {
    if (isDomainError(error) && error.code === "paid_already") return true;
    throw error;
  }
};

/** Why a leg is not signed after a restore; null where no move that the database lost can have paid in its place. */
export const paidByLostMove = async (step: Step): Promise<Failure | null> =>
  (await isPaid(step)) ? PAID_BY_LOST_MOVE : null;

/**
 * Whether the chain has executed an operation of a leg that the database has as queued, as far as it can be told now.
 * @throws DomainError `chain_unavailable`
 */
export const wasExecutedBefore = async (
  { smartAccounts, chains, leg }: Step,
  { address }: ManagedAccount,
): Promise<"never" | "final" | "not final"> => {
  const { sourceChainId: chainId, id } = leg;
  const { number } = await chains.head(chainId);
  if (!(await smartAccounts.wasExecuted(chainId, address, id, { blockNumber: number }))) return "never";
  const final = await chains.finalNumber(chainId);
  const isFinal = final !== null && (await smartAccounts.wasExecuted(chainId, address, id, { blockNumber: final }));
  return isFinal ? "final" : "not final";
};
