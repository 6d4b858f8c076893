import { DomainError } from "@/lib/core/errors";

export const makerEnded = (): DomainError =>
  new DomainError(
    "unauthorized",
    "The session or the API key of this request has ended. Nothing was made; sign in again.",
  );

export const mayNotRestore = (words: string): DomainError =>
  new DomainError(
    "forbidden",
    `Your role in the project may not make a ${words}, so it may not restore one. Ask an owner of the project.`,
  );

export const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "One of these was restored or has ended meanwhile. Nothing was changed; read the list again.",
  );

export const linkUnknown = (): DomainError =>
  new DomainError(
    "not_found",
    "This link is not known, or is older than 30 days. Sign in, and end all sessions on the page Settings.",
  );
