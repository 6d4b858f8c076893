import { codeOf, detailsOf } from "@/components/features/money-flow/api-error";
import type { DraftField, RowProblems } from "./draft-row";

export interface Findings {
  readonly problems: ReadonlyMap<number, RowProblems>;
  /** The message for each row that was paid before or repeats another row, by row key. */
  readonly duplicates: ReadonlyMap<number, string>;
  /** The service's error; null when each of its messages is shown at a row. */
  readonly error: Error | null;
}

export const NO_FINDINGS: Findings = {
  problems: new Map(),
  duplicates: new Map(),
  error: null,
};

const FIELD_OF: Readonly<Record<string, DraftField>> = {
  address: "recipient",
  recipientAccountId: "recipient",
  amount: "amount",
  currency: "amount",
  token: "token",
  reference: "reference",
  note: "note",
};

const placeOf = (
  path: string,
): { readonly index: number; readonly field: DraftField } | null => {
  const [, index, name = ""] = /^transfers\.(\d+)(?:\.(\w+))?/.exec(path) ?? [];
  if (index === undefined) return null;
  return { index: Number(index), field: FIELD_OF[name] ?? "recipient" };
};

/**
 * Assigns the messages of the service's error to rows. `keys` are the keys of the sent rows, in
 * the order of the request.
 */
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
  return {
    problems,
    duplicates,
    error: details.length > 0 && placed === details.length ? null : error,
  };
};
