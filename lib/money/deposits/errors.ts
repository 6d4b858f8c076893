/**
 * Thrown by a turn of the search when another instance has stored its turn first, or when the chain
 * changed while the turn read it. The next turn starts again.
 */
export class TurnLostError extends Error {}
