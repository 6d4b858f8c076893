/** Thrown when the transaction is no longer needed. Nothing was stored. */
export class NotWantedError extends Error {}
