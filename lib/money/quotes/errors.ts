import { DomainError } from "@/lib/core/errors";
import type { Quote } from "./quote";

/**
 * The noun for a quote in messages. Callers identify the quote of a transfer by the transfer's id,
 * so it is called a transfer.
 */
export const nounOf = ({ transferId }: Quote): string =>
  transferId === null ? "quote" : "transfer";

export const quoteUsed = (quote: Quote): DomainError =>
  new DomainError(
    "quote_already_used",
    `This ${nounOf(quote)} was executed already. The money moves once; see the operation.`,
    { extra: quote.operationId === null ? {} : { operationId: quote.operationId } },
  );

export const NOT_OF_PROJECT = "This wallet is not one of the project's wallets.";

export const unknownWallet = (path: string): DomainError =>
  new DomainError("unknown_wallet", NOT_OF_PROJECT, {
    details: [{ path, message: NOT_OF_PROJECT, code: "unknown_wallet" }],
  });
