import { DomainError, invalidRequest } from "@/lib/core/errors";

export const ENDPOINTS_MAX = 20;

export const tooManyEndpoints = (): DomainError =>
  new DomainError(
    "invalid_state",
    `A project has at most ${String(ENDPOINTS_MAX)} endpoints. Delete one first.`,
  );

export const changedMeanwhile = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The endpoint was changed meanwhile. Read it again; this change was not made.",
  );

export const isDisabled = (): DomainError =>
  new DomainError("invalid_state", "The endpoint is disabled. Set its status to active first.");

export const badUrl = (problem: string): DomainError =>
  invalidRequest([{ path: "url", message: problem, code: "forbidden_target" }], problem);

export const rangeTooLong = (numbersMax: number): DomainError =>
  invalidRequest([
    { path: "to", message: `A range has at most ${numbersMax.toLocaleString("en")} numbers.` },
  ]);

export const needsPrivacyScope = (): DomainError =>
  new DomainError(
    "insufficient_scope",
    "Details of private movements need the scope privacy:read. Nothing was saved; give the key the scope, or leave `includePrivate` out.",
  );

export const needsPerson = (): DomainError =>
  new DomainError(
    "forbidden",
    "An API key may not move an endpoint to another URL, send private details to it, or read its new signing secret: a person of the project approves that. Nothing was changed; make another endpoint, or let an owner or admin do it on the page Webhooks.",
  );

export const isArchived = (file: string): DomainError =>
  new DomainError(
    "invalid_state",
    `Events of this range were archived. Nothing was queued; read them in ${file}, or let whoever runs the service bring the month back.`,
  );

export const eventIsArchived = (): DomainError =>
  new DomainError(
    "invalid_state",
    "The event of this delivery was archived. Nothing was queued; GET /events names the file that has it.",
  );
