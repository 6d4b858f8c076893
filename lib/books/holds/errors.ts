/**
 * The balance does not suffice, but holds were released since it was read. It must be read again.
 */
export class FundsMovedError extends Error {}
