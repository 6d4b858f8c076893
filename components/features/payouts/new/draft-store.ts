import { z } from "zod";
import { PAYOUT_ROWS_MAX } from "@/lib/contracts/payout-records";
import type { DraftValues } from "./draft-row";

const KEY = "causeway.payout.draft";

const draft = z.object({
  owner: z.string(),
  kind: z.string(),
  rows: z
    .array(
      z.object({
        recipient: z.string(),
        amount: z.string(),
        token: z.string(),
        reference: z.string(),
        note: z.string(),
        ragged: z.boolean(),
        checked: z.boolean(),
      }),
    )
    .min(1)
    .max(PAYOUT_ROWS_MAX),
});

/** The owner and kind of a draft. Rows of one owner are never shown to another. */
export interface DraftOwner {
  /** Id of the project's treasury. */
  readonly owner: string;
  readonly kind: string;
}

/** Rows that were typed or imported in this tab before it was reloaded; null when there are none. */
export const readDraft = ({ owner, kind }: DraftOwner): readonly DraftValues[] | null => {
  try {
    const found = draft.parse(JSON.parse(sessionStorage.getItem(KEY) ?? "null"));
    return found.owner === owner && found.kind === kind ? found.rows : null;
  } catch {
    return null;
  }
};

export const saveDraft = (of: DraftOwner, rows: readonly DraftValues[]): void => {
  try {
    const kept = rows.map(({ recipient, amount, token, reference, note, ragged, checked }) => ({
      ...{ recipient, amount, token, reference, note, ragged, checked },
    }));
    sessionStorage.setItem(KEY, JSON.stringify({ ...of, rows: kept }));
  } catch {
    // A browser that keeps nothing, or not so much, only loses the convenience.
  }
};

export const dropDraft = (): void => {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // As above.
  }
};
