import { codeOf, detailsOf } from "@/components/features/money-flow/api-error";
import type { DraftField, RowProblems } from "./draft-row";

/** The service's messages about the rows, by the rows' keys. */
export interface Findings {
  readonly problems: ReadonlyMap<number, RowProblems>;
  /** Rows that were paid before, or that repeat another, each with the service's message. */
  readonly duplicates: ReadonlyMap<number, string>;
  /** Messages that belong to no row. */
  readonly error: Error | null;
}

export const NO_FINDINGS: Findings = { problems: new Map(), duplicates: new Map(), error: null };

const FIELD_OF: Readonly<Record<string, DraftField>> = {
  address: "recipient",
  recipientAccountId: "recipient",
  amount: "amount",
  currency: "amount",
  token: "token",
  reference: "reference",
  note: "note",
};

const placeOf = (path: string): { readonly index: number; readonly field: DraftField } | null => {
  const [, index, name = ""] = /^transfers\.(\d+)(?:\.(\w+))?/.exec(path) ?? [];
  return index === undefined ? null : { index: Number(index), field: FIELD_OF[name] ?? "recipient" };
};

/** Sorts a refusal by rows; `keys` are those of the rows that were sent, in their order. */
export const findingsOf = (error: Error, keys: readonly number[]): Findings => {
  const problems = new Map<number, RowProblems>();
  const duplicates = new Map<number, string>();
  const details = detailsOf(error);
  const isDuplicate = codeOf(error) === "duplicate_payout";
  let placed = 0;
  for (const { path, message } of details) {
    const place = placeOf(path);
    const key = place === null ? undefined : keys[place.index];
    if (place === null || key === undefined) continue;
    placed += 1;
    if (isDuplicate) duplicates.set(key, message);
    // Only the first message about a field is shown.
    else problems.set(key, { [place.field]: message, ...problems.get(key) });
  }
  return { problems, duplicates, error: details.length > 0 && placed === details.length ? null : error };
};
