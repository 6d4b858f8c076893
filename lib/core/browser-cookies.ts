import { isId } from "./ids";

/**
 * Choices that a browser remembers in cookies, so that the server draws pages with them. None of them gives any right: the API checks
 * membership of the project at each call.
 */
export const PREFERENCE_COOKIES = {
  /** Id of the project that the browser works in; absent: the one that the person joined first. */
  project: "causeway.project",
  /** `1` where balances are hidden from onlookers. */
  amountsHidden: "causeway.amounts-hidden",
  /** `1` where the first steps were put away. */
  firstStepsHidden: "causeway.first-steps-hidden",
} as const;

export type Preference = keyof typeof PREFERENCE_COOKIES;

/** The preferences that the browser remembers; null where it remembers none. */
export type Preferences = Readonly<Record<Preference, string | null>>;

/** The value of a cookie as it may be used. Whoever serves something else on the same host can set these cookies to anything. */
export const preferenceOf = (preference: Preference, value: string): string | null =>
  preference === "project" && !isId("project", value) ? null : value;
