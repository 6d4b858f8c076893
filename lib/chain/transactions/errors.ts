/** The transaction is no longer needed; nothing was stored. */
export class NotWantedError extends Error {}
