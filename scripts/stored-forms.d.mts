/** Paths below lib, without `.ts`. */
export const STORED_FORMS: readonly string[];
