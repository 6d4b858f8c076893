/** Merges pages of several lists, each newest first, into one page without a gap. */
import { uuidOf, type SourcePage } from "./sources";
import type { Movement } from "./movement";

export interface MergedPage {
  readonly movements: readonly Movement[];
  /** UUID below which the next page begins; null on the last page. */
  readonly next: string | null;
}

/**
 * A source that has more was read down to an id. Below the highest of these ids it is not known whether all movements are there, so the page
 * ends at it at the latest.
 */
export const mergePages = (pages: readonly SourcePage[], limit: number): MergedPage => {
  const readDownTo = pages.flatMap((page) => page.readDownTo ?? []).sort();
  const floor = readDownTo.at(-1) ?? "";
  const found = pages
    .flatMap(({ movements }) => movements)
    .filter(({ id }) => uuidOf(id) >= floor)
    .sort((a, b) => (uuidOf(a.id) < uuidOf(b.id) ? 1 : -1));
  const movements = found.slice(0, limit);
  const last = movements.at(-1);
  if (found.length > limit && last !== undefined) return { movements, next: uuidOf(last.id) };
  return { movements, next: floor === "" ? null : floor };
};
