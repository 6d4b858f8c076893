import { CONTACTS_MAX } from "@/lib/contracts/contacts";
import { DomainError } from "@/lib/core/errors";

export const bookFull = (): DomainError =>
  new DomainError(
    "invalid_state",
    `The address book is full: it holds ${String(CONTACTS_MAX)} addresses. Nothing was saved; delete one first.`,
  );
