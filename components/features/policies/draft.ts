import { z } from "zod";
import { policyValues, type PolicyValues } from "./policy-form";
import { pathOfSubject, type PolicySubject } from "./subject";

const draft = z.object({ owner: z.string(), version: z.number(), values: policyValues });

const keyOf = (subject: PolicySubject): string => `causeway.policy.draft.${pathOfSubject(subject)}`;

/** The version that the form was filled from, and the project of it. */
export interface DraftBase {
  /** Id of the project's treasury: a draft for another project is not used. */
  readonly owner: string;
  readonly version: number;
}

/** Returns the limits that were typed in this tab before it was reloaded; null when there are none, or when the policy has a newer version. */
export const readDraft = (subject: PolicySubject, base: DraftBase): PolicyValues | null => {
  try {
    const found = draft.parse(JSON.parse(sessionStorage.getItem(keyOf(subject)) ?? "null"));
    return found.owner === base.owner && found.version === base.version ? found.values : null;
  } catch {
    return null;
  }
};

export const saveDraft = (subject: PolicySubject, base: DraftBase, values: PolicyValues): void => {
  try {
    sessionStorage.setItem(keyOf(subject), JSON.stringify({ ...base, values }));
  } catch {
    // Without storage the draft is lost on reload; the form itself still works.
  }
};

export const dropDraft = (subject: PolicySubject): void => {
  try {
    sessionStorage.removeItem(keyOf(subject));
  } catch {
    // As above.
  }
};
