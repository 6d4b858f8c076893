/** The kind of operations that are money from outside. */
export const DEPOSIT_KIND = "deposit";
