/** The transaction is no longer wanted; nothing was stored. */
export class NotWantedError extends Error {}
