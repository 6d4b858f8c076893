import { DomainError, isDomainError, type ErrorCode } from "./errors";

/** Names a key of the service: the secret was right. */
export interface KeyName {
  readonly keyId: string;
  readonly projectId: string;
}

// As for DomainError: the server's bundle and Next's bundle each have a copy of this class.
const REFUSED_KEY: unique symbol = Symbol.for("causeway.RefusedKeyError") as never;

/** The secret of a key was right, and the key may not be used: it was revoked, has expired, or is called from a wrong network. */
export class RefusedKeyError extends DomainError {
  readonly [REFUSED_KEY]: KeyName;

  constructor(code: ErrorCode, message: string, key: KeyName) {
    super(code, message);
    this[REFUSED_KEY] = { keyId: key.keyId, projectId: key.projectId };
  }
}

/** The key that an error is about; null for every other error. */
export const refusedKeyOf = (error: unknown): KeyName | null =>
  isDomainError(error) && REFUSED_KEY in error ? (error as RefusedKeyError)[REFUSED_KEY] : null;
