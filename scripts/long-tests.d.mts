export const LONGER_FORMS: readonly string[];
export const SAMPLED: readonly string[];
export const SAMPLED_JOURNEYS: readonly string[];
/** @param seed any text; the same seed leaves out the same files */
export function leftOut(seed: string): string[];
/** @param seed any text; the same seed leaves out the same journeys */
export function leftOutJourneys(seed: string): string[];
