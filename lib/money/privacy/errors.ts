import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";

const at = (path: string, message: string) => ({ details: [{ path, message }] });

/**
 * The error for an id that no private wallet of the project has. It does not reveal whether another
 * project has the wallet.
 */
export const unknownPrivacyWallet = (path = "privacyWalletId"): DomainError => {
  const message = "The project has no private wallet with this id.";
  return new DomainError("unknown_privacy_wallet", message, at(path, message));
};

export const unknownPool = (token: Token, path: string): DomainError => {
  const message = `There is no privacy pool of ${token.symbol} on this chain.`;
  return new DomainError("unknown_pool", message, at(path, message));
};

export const noProcessor = (): DomainError =>
  new DomainError(
    "unknown_pool",
    "This chain has no contract that turns one private note into another. Nothing was sent; choose another chain.",
  );

export const belowMinimum = (token: Token, minimumBase: bigint): DomainError => {
  const message = `The pool takes ${formatAmount(minimumBase, token.decimals)} ${token.symbol} at least. Nothing was sent.`;
  return new DomainError("below_pool_minimum", message, at("amount", message));
};

export const insufficientPrivate = (token: Token, missingBase: bigint): DomainError => {
  const missing = formatAmount(missingBase, token.decimals);
  const message = `${missing} ${token.symbol} are missing among the private notes that can be spent now, fees included. Nothing was sent.`;
  return new DomainError("insufficient_balance", message, at("amount", message));
};

export const noteInUse = (): DomainError =>
  new DomainError(
    "note_spent",
    "Another operation spends these notes. Nothing was sent; try again once it has ended.",
  );

/** The error for a note that does not exist or was spent. It is the same in both cases. */
export const noteUnknown = (): DomainError => {
  const message =
    "The private wallet has no such note: it was spent, or it is another wallet's. Nothing was sent.";
  return new DomainError("note_spent", message, at("noteId", message));
};

export const noteIsApproved = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The note is approved and can be unshielded in private. The public exit is for notes that are not. Nothing was sent.",
  );

export const smallSet = (size: number, wanted: number): DomainError =>
  new DomainError(
    "small_anonymity_set",
    `Only ${String(size)} deposits hide this transfer; ${String(wanted)} are recommended. Send it again with acceptSmallSet to go on. Nothing was sent.`,
    { extra: { anonymitySet: size } },
  );

export const noPrivateRoute = (from: Token, to: Token): DomainError =>
  new DomainError(
    "no_route",
    `No route leads from ${from.symbol} to ${to.symbol} on this chain. Nothing was sent; choose another token.`,
  );

export const priceMoved = (): DomainError =>
  new DomainError(
    "quote_price_moved",
    "The swap would bring less than was promised. Nothing was sent; try again later, or ask for a new quote.",
  );

export const triedAlready = (retriedBy: string): DomainError =>
  new DomainError(
    "invalid_state",
    "This operation was tried again already. Nothing was sent now; see the operation in `retriedBy`.",
    {
      extra: { retriedBy },
    },
  );

export const nothingToRetry = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Nothing of this operation failed that can be tried again. Nothing was sent; read the operation to see where its money is.",
  );

export const treasuryMissing = (): DomainError =>
  new DomainError(
    "unknown_wallet",
    "The project has no treasury yet, so nothing was sent. Try again shortly.",
  );

export const notAwaitingApproval = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This operation does not await approval: it was approved, cancelled or has ended.",
  );

/**
 * Thrown in the transaction that would start an operation at once, when the caller's policy
 * requires an approval after all.
 */
export class NotAdmittedError extends Error {}

/**
 * Thrown when a concurrent operation used a note or a deposit number, or moved a step, after it was
 * read. The work can be repeated with fresh reads.
 */
export class TakenError extends Error {}

/** The error when a caller requests or uses a code for a quote that needs votes instead. */
export const executeWithoutCode = (): DomainError =>
  new DomainError(
    "invalid_state",
    "This private swap needs the votes of other people, and a code cannot take their place. Nothing was sent. Make a new quote, prepare it without a code and execute it: it then waits for their votes.",
  );

/**
 * The error while rules limit the project's money: the rules would not bind a person who has seen
 * the mnemonic.
 * @param rules in words
 */
export const keyIsBounded = (rules: readonly string[]): DomainError =>
  new DomainError(
    "policy_violation",
    `The mnemonic is not shown while rules bound the project's money, because whoever has it could move the money past them: ${rules.join("; ")}. ` +
      "Nothing was shown, and the money is where it was. Take the money out with POST /privacy/unshield, or change these rules first (PUT /policies).",
    { details: rules.map((message) => ({ path: "id", message })) },
  );

export const waitsForVotes = (decisionId: string): DomainError =>
  new DomainError(
    "invalid_state",
    "People of the project have not decided yet whether the mnemonic is shown (GET /approvals/{id}). Nothing was shown; ask again once they have approved it.",
    { extra: { decisionId } },
  );

/**
 * The error when the rules or the votes changed since the request began, or when another request
 * has shown the mnemonic since then.
 */
export const exportedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The rules were changed, or the mnemonic was shown by another request meanwhile. Nothing was shown now; ask again.",
  );
