/**
 * Thrown when the balance does not suffice, but holds were released since it was read. The caller
 * must read the balance again.
 */
export class FundsMovedError extends Error {}
