/**
 * The failures of rows and batches of payouts to wallets. Their messages say where the money is.
 */
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";
import { IN_DOUBT_CODE } from "../../errors";
import type { Failure } from "./payout-batch";

const IN_TREASURY = "The money is in the treasury.";

/**
 * The failure of a row that the chain refuses to execute.
 * @param mayPass whether the chain may accept the payment at another time
 */
export const rowRefused = (reason: string, mayPass: boolean): Failure => ({
  code: "simulation_failed",
  message: `The chain would not execute this payment: ${reason}. It was left out, and the others go on. ${IN_TREASURY}`,
  retryable: mayPass,
});

/**
 * The failure of a payout that was changed after the policies had evaluated it, or stored without
 * an evaluation. Such a payout is never signed.
 */
export const NOT_EVALUATED: Failure = {
  code: "policy_violation",
  message: `The policies have not allowed this payout as it is stored, so it was not signed. ${IN_TREASURY}`,
  retryable: true,
};

/**
 * The failure of a row whose recipient screening has stopped.
 * @param reason continues a sentence that begins with "The recipient"
 */
export const screeningStopped = (reason: string): Failure => ({
  code: "screening_refused",
  message: `The recipient ${reason}, so this payment was left out, and the others go on. ${IN_TREASURY} Do not pay this address.`,
  retryable: false,
});

/**
 * The failure of a batch that waits because screening does not answer about a recipient.
 * @param reason continues a sentence that begins with "A recipient"
 */
export const screeningUnavailable = (reason: string): Failure => ({
  code: "screening_refused",
  message: `A recipient ${reason}. ${IN_TREASURY}`,
  retryable: true,
});

export const recipientFrozen = (
  { symbol }: Pick<Token, "symbol">,
  address: string,
): Failure => ({
  code: "recipient_frozen",
  message: `The issuer of ${symbol} has frozen ${address}, so this payment was left out, and the others go on. ${IN_TREASURY}`,
  retryable: true,
});

export const treasuryFrozen = (
  { symbol }: Pick<Token, "symbol">,
  address: string,
): Failure => ({
  code: "wallet_frozen",
  message: `The issuer of ${symbol} has frozen the treasury ${address}, so its ${symbol} cannot leave it. ${IN_TREASURY}`,
  retryable: true,
});

export const batchRefused = (code: string, reason: string): Failure => ({
  code,
  message: `${reason.replace(/ ?Nothing was sent\.$/, "")} ${IN_TREASURY}`,
  retryable: true,
});

export const notEnough = (token: Token, neededBase: bigint, balanceBase: bigint): Failure => ({
  code: "insufficient_balance",
  message:
    `The treasury has ${formatAmount(balanceBase, token.decimals)} ${token.symbol}, and these payments need ` +
    `${formatAmount(neededBase, token.decimals)}: something else spent what was set aside. ${IN_TREASURY}`,
  retryable: true,
});

export const expired = (attempts: number): Failure => ({
  code: "source_expired",
  message: `The chain did not take the transaction in time, ${String(attempts)} times over. It can no longer be executed. ${IN_TREASURY}`,
  retryable: true,
});

export const reverted = (attempts: number): Failure => ({
  code: "source_reverted",
  message: `The chain refused the transaction ${String(attempts)} times, although each succeeded when it was simulated. ${IN_TREASURY}`,
  retryable: true,
});

export const REPLACED: Failure = {
  code: IN_DOUBT_CODE,
  message:
    "The account executed another operation that was signed for the same payments, so this one can never be executed. The other one may have paid them: let the chain be checked before you pay again.",
  retryable: false,
};

const NOT_PAID_CODE = "not_paid_after_all";

/**
 * The failure of a batch when an operation that the database lost in a restore has made one of its
 * payments. The batch is not signed, because the chain could execute both operations when the lost
 * one has another nonce key. The batch is in doubt, as with `REPLACED`.
 */
export const PAID_BY_LOST_MOVE: Failure = {
  code: REPLACED.code,
  message:
    "Before the database was restored, another operation made one of these payments, so nothing was signed. It may have made all of them: let the chain be checked before you pay again.",
  retryable: false,
};

/** The failure of a row when the chain has shown that the other operation did not pay it. */
export const PROVEN_UNPAID: Failure = {
  code: NOT_PAID_CODE,
  message: `The chain shows that the other operation did not pay this row. ${IN_TREASURY}`,
  retryable: true,
};

/** The failure of a row when a person has stated that the other operation did not pay it. */
export const STATED_UNPAID: Failure = {
  code: NOT_PAID_CODE,
  message: `A person found that the other operation did not pay this row. ${IN_TREASURY}`,
  retryable: true,
};

export const ALL_ROWS_REFUSED: Failure = {
  code: "simulation_failed",
  message: `No payment of it could be made; each row names its reason. ${IN_TREASURY}`,
  retryable: true,
};

export const MOVED_NOTHING: Failure = {
  code: "nothing_moved",
  message:
    "The token's contract ran without an error, and its logs show that it moved nothing for this payment: the money should still be in the treasury. It would do the same again.",
  retryable: false,
};

export const movedOtherwise = (token: Token, movedBase: bigint): Failure => ({
  code: "amount_differs",
  message: `The token's logs show ${formatAmount(movedBase, token.decimals)} ${token.symbol} for this payment: its contract may keep a fee.`,
  retryable: false,
});
