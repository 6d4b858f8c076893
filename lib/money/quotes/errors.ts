import { DomainError } from "@/lib/core/errors";
import type { Quote } from "./quote";

/**
 * The word that messages use for a quote. Callers identify the quote of a transfer by the
 * transfer's id, so it is called a transfer.
 */
export const nounOf = ({ transferId }: Quote): string =>
  transferId === null ? "quote" : "transfer";

/** The error for a quote that an operation has used. Its `operationId` names that operation. */
export const quoteUsed = (quote: Quote): DomainError =>
  new DomainError(
    "quote_already_used",
    `This ${nounOf(quote)} was executed already. The money moves once; see the operation.`,
    { extra: quote.operationId === null ? {} : { operationId: quote.operationId } },
  );

/**
 * The message of `unknown_wallet`, for a request that names one of the project's wallets by address
 * or id.
 */
export const NOT_OF_PROJECT = "This wallet is not one of the project's wallets.";

/** The error for a request that names its wallet by id. */
export const unknownWallet = (path: string): DomainError =>
  new DomainError("unknown_wallet", NOT_OF_PROJECT, {
    details: [{ path, message: NOT_OF_PROJECT, code: "unknown_wallet" }],
  });
