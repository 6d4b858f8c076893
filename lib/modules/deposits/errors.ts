/** Another instance was faster, or the chain changed while it was read: the next turn begins again. */
export class TurnLostError extends Error {}
