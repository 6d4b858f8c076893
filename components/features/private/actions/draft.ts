import { z } from "zod";
import type { Action } from "./form-model";

const draft = z.object({ owner: z.string(), amount: z.string(), toAddress: z.string() });

const keyOf = (action: Action): string => `causeway.private.draft.${action}`;

export interface PrivateDraft {
  /** Id of the project's treasury: a draft of another one was typed by somebody else, and is not used. */
  readonly owner: string;
  readonly amount: string;
  readonly toAddress: string;
}

/**
 * The values that were typed in this tab before it was reloaded; null when there are none. It is not in the page's address as
 * wallet and pool are: an address with amount and recipient would be kept by the browser's history and by access logs.
 */
export const readDraft = (action: Action, owner: string): PrivateDraft | null => {
  try {
    const found = draft.parse(JSON.parse(sessionStorage.getItem(keyOf(action)) ?? "null"));
    return found.owner === owner ? found : null;
  } catch {
    return null;
  }
};

export const saveDraft = (action: Action, values: PrivateDraft): void => {
  try {
    sessionStorage.setItem(keyOf(action), JSON.stringify(values));
  } catch {
    // A browser that keeps nothing only loses the convenience.
  }
};

export const dropDraft = (action: Action): void => {
  try {
    sessionStorage.removeItem(keyOf(action));
  } catch {
    // As above.
  }
};
