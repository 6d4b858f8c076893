import { isId } from "./ids";

/**
 * Preferences that a browser stores in cookies, so that the server renders pages with them. None of
 * them gives any right: the API checks the membership of the project at each call.
 */
export const PREFERENCE_COOKIES = {
  /** Id of the project in use; by default the one that the person joined first. */
  project: "causeway.project",
  /** `1` when balances are hidden. */
  amountsHidden: "causeway.amounts-hidden",
  /** `1` when the list of first steps is hidden. */
  firstStepsHidden: "causeway.first-steps-hidden",
} as const;

export type Preference = keyof typeof PREFERENCE_COOKIES;

/** The stored preferences; null for each that is not stored. */
export type Preferences = Readonly<Record<Preference, string | null>>;

/**
 * The validated value of a cookie. Other software on the same host can set these cookies to
 * anything.
 */
export const preferenceOf = (preference: Preference, value: string): string | null =>
  preference === "project" && !isId("project", value) ? null : value;
