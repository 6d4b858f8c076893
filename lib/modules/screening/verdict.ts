/** Combines the verdicts of all sources about an address, and decides whether money may move after them. Pure. */
import type { ScreeningState, ScreeningVerdict } from "@/lib/ports/screening";

export type ScreeningMode = "off" | "block_hits" | "require_clear";

export const DEFAULT_MODE: ScreeningMode = "block_hits";

/** The first of these that a source gave counts for all sources: one hit counts against all others, and no answer never means `clear`. */
const ORDER: readonly ScreeningState[] = ["hit", "unavailable", "clear", "not_covered"];

/** The verdict of the source that decides. @param verdicts of one address, one of each source; null: no source was asked */
export const decisive = (verdicts: readonly ScreeningVerdict[]): ScreeningVerdict | null => {
  for (const state of ORDER) {
    const found = verdicts.find((verdict) => verdict.state === state);
    if (found !== undefined) return found;
  }
  return null;
};

const STRICTNESS: readonly ScreeningMode[] = ["off", "block_hits", "require_clear"];

/** The stricter of two modes. */
export const stricterMode = (a: ScreeningMode, b: ScreeningMode): ScreeningMode =>
  STRICTNESS.indexOf(a) >= STRICTNESS.indexOf(b) ? a : b;

/** Whether money may not move after this state. */
export const stops = (mode: ScreeningMode, state: ScreeningState): boolean => {
  if (mode === "off") return false;
  return mode === "require_clear" ? state !== "clear" : state === "hit";
};

/** Why a verdict was given, in words that continue a sentence about the address: "is listed by sdn version 12". */
export const reasonOf = ({ state, source, listVersion }: ScreeningVerdict): string => {
  const version = listVersion === null ? "" : ` version ${listVersion}`;
  switch (state) {
    case "hit":
      return `is listed by ${source}${version}`;
    case "not_covered":
      return "is covered by no screening source, and the policy asks for one";
    case "unavailable":
      return `could not be screened, because ${source}${version} did not answer or is out of date`;
    case "clear":
      return `is not listed by ${source}${version}`;
  }
};
