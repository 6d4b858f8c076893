import { DomainError } from "@/lib/core/errors";

/** Deposit numbers in a row that may be unused before a scan by mnemonic alone stops; the SDK's own limit. */
export const GAP_MAX = 10;

export const notEnoughNumbers = (): DomainError =>
  new DomainError(
    "invalid_state",
    "Too many deposits of this private wallet are under way. Nothing was sent; try again once some have ended.",
  );
