import { isId } from "./ids";

/**
 * Preferences that a browser stores in cookies, so that the server can render pages with them. They
 * grant no rights: the API checks project membership at each call.
 */
export const PREFERENCE_COOKIES = {
  /** Id of the current project. Default: the project that the person joined first. */
  project: "causeway.project",
  /** `1` when balances are hidden. */
  amountsHidden: "causeway.amounts-hidden",
  /** `1` when the list of first steps is hidden. */
  firstStepsHidden: "causeway.first-steps-hidden",
} as const;

export type Preference = keyof typeof PREFERENCE_COOKIES;

export type Preferences = Readonly<Record<Preference, string | null>>;

/**
 * The value of a cookie if it is valid, else null. The value is checked, because other software on
 * the same host can set these cookies to anything.
 */
export const preferenceOf = (preference: Preference, value: string): string | null =>
  preference === "project" && !isId("project", value) ? null : value;
