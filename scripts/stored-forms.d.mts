/** Paths below lib/modules, without `.ts`. */
export const STORED_FORMS: readonly string[];
