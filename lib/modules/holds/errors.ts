/** The balance is out of date, because holds were released since it was read, and it does not suffice. It must be read again. */
export class FundsMovedError extends Error {}
