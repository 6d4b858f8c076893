/**
 * Thrown when another instance was faster, or the chain changed while it was read. The next turn
 * starts again.
 */
export class TurnLostError extends Error {}
