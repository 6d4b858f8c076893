"use client";

import { useCallback, useEffect, useState } from "react";
import { EMPTY_ROW, isBlank, type DraftRow, type DraftValues } from "./draft-row";
import { readDraft, saveDraft, type DraftOwner } from "./draft-store";

const SAVE_AFTER_MS = 600;

export interface DraftRows {
  readonly rows: readonly DraftRow[];
  readonly change: (key: number, part: Partial<DraftValues>) => void;
  readonly add: () => void;
  readonly remove: (key: number) => void;
  /** Adds rows, and removes the empty ones. */
  readonly append: (values: readonly DraftValues[]) => void;
  readonly replace: (values: readonly DraftValues[]) => void;
  /** Shows what is wrong with every row. */
  readonly checkAll: () => void;
}

interface State {
  readonly rows: readonly DraftRow[];
  readonly nextKey: number;
}

const appended = (rows: readonly DraftRow[], values: readonly DraftValues[], nextKey: number): State => ({
  rows: [...rows, ...values.map((value, index) => ({ ...value, key: nextKey + index }))],
  nextKey: nextKey + values.length,
});

const checkedRow = (row: DraftRow): DraftRow => (row.checked || isBlank(row) ? row : { ...row, checked: true });

/** The rows of a payout that is being written; kept in this tab until it is sent. `owner` null: not known yet, nothing is kept. */
export const useDraftRows = (owner: DraftOwner | null): DraftRows => {
  const [{ rows }, setState] = useState<State>({ rows: [], nextKey: 1 });
  const ownerId = owner?.owner ?? null;
  const kind = owner?.kind ?? "";

  useEffect(() => {
    if (ownerId === null) return;
    const found = readDraft({ owner: ownerId, kind });
    setState((before) => appended([], found ?? [], before.nextKey));
  }, [ownerId, kind]);

  useEffect(() => {
    if (ownerId === null || rows.length === 0) return;
    const save = (): void => saveDraft({ owner: ownerId, kind }, rows);
    const timer = setTimeout(save, SAVE_AFTER_MS);
    // A page that is left or reloaded at once keeps what was typed last.
    window.addEventListener("pagehide", save);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pagehide", save);
    };
  }, [ownerId, kind, rows]);

  const update = useCallback(
    (next: (rows: readonly DraftRow[]) => readonly DraftRow[]): void =>
      setState((before) => ({ ...before, rows: next(before.rows) })),
    [],
  );
  return {
    rows,
    change: useCallback(
      (key, part) => update((all) => all.map((row) => (row.key === key ? { ...row, ...part } : row))),
      [update],
    ),
    remove: useCallback((key) => update((all) => all.filter((row) => row.key !== key)), [update]),
    checkAll: useCallback(() => update((all) => all.map(checkedRow)), [update]),
    add: useCallback(() => setState((before) => appended(before.rows, [EMPTY_ROW], before.nextKey)), []),
    append: useCallback(
      (values) =>
        setState((before) =>
          appended(
            before.rows.filter((row) => !isBlank(row)),
            values,
            before.nextKey,
          ),
        ),
      [],
    ),
    replace: useCallback((values) => setState((before) => appended([], values, before.nextKey)), []),
  };
};
