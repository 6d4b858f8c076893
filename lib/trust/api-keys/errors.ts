import { DomainError } from "@/lib/core/errors";

export const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The key was changed or revoked meanwhile. Read it again; this change was not made.",
  );
