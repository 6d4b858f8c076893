import { DomainError } from "@/lib/core/errors";
import { formatAmount } from "@/lib/core/money";
import type { Token } from "@/lib/core/token";

const at = (path: string, message: string) => ({ details: [{ path, message }] });

/** The same for a wallet that does not exist and for one of another project. */
export const unknownPrivacyWallet = (path = "privacyWalletId"): DomainError => {
  const message = "The project has no private wallet with this id.";
  return new DomainError("unknown_privacy_wallet", message, at(path, message));
};

export const unknownPool = (token: Token, path: string): DomainError => {
  const message = `There is no privacy pool of ${token.symbol} on this chain.`;
  return new DomainError("unknown_pool", message, at(path, message));
};

export const noProcessor = (): DomainError =>
  new DomainError("unknown_pool", "This chain has no contract that makes one private note of another.");

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
  new DomainError("note_spent", "Another operation spends these notes. Nothing was sent; try again once it has ended.");

/** The same for a note that never was and for one that was spent. */
export const noteUnknown = (): DomainError => {
  const message = "The private wallet has no such note: it was spent, or it is another wallet's. Nothing was sent.";
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
    `There is no way from ${from.symbol} to ${to.symbol} on this chain. Nothing was sent; choose another token.`,
  );

/** Of a swap that is tried again. */
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
  new DomainError("unknown_wallet", "The project has no treasury yet, so nothing was sent. Try again shortly.");

export const notAwaitingApproval = (): DomainError =>
  new DomainError("invalid_state", "This operation does not await approval: it was approved, cancelled or has ended.");

/** Thrown in the transaction that would let an operation run at once: the caller's policy needs an approval after all. */
export class NotAdmittedError extends Error {}

/** Another operation took a note or a deposit number since it was read, or moved a step. The work can be done again with fresh reads. */
export class TakenError extends Error {}
