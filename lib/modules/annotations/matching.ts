/** Conditions over a row of `annotation`, for statements of modules that list what has annotations. Any case. */

/** @param tag placeholder of a whole tag */
export const hasTag = (row: string, tag: string): string =>
  `EXISTS (SELECT 1 FROM unnest(${row}.tags) AS one (tag) WHERE lower(one.tag) = lower(${tag}))`;

/** @param pattern placeholder of what `patternOf` made */
export const hasNote = (row: string, pattern: string): string =>
  `(${row}.memo ILIKE ${pattern} OR EXISTS (SELECT 1 FROM unnest(${row}.tags) AS one (tag) WHERE one.tag ILIKE ${pattern}))`;

/** For a part of the memo or of a tag. */
export const patternOf = (part: string): string => `%${part.replaceAll(/[\\%_]/g, "\\$&")}%`;
