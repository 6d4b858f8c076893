/**
 * The balance that was read is out of date, because holds were released since, and it does not
 * suffice. It must be read again.
 */
export class FundsMovedError extends Error {}
