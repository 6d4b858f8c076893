"use client";

import { useMemo, useState } from "react";

interface Row {
  readonly key: number;
}

interface Numbered<R> {
  readonly row: R;
  /** The position among all rows, from 1. */
  readonly number: number;
}

interface RowsWithErrors<R> {
  readonly shown: readonly Numbered<R>[];
  readonly onlyErrors: boolean;
  readonly setOnlyErrors: (only: boolean) => void;
}

/**
 * The rows of a list, or only those with errors. A row that had an error when the person chose to
 * see only such rows stays in the list after its correction. Otherwise it would disappear while
 * the person types, and keep only half of the text.
 * @param problems by the row's key
 */
export const useRowsWithErrors = <R extends Row>(
  rows: readonly R[],
  problems: ReadonlyMap<number, unknown>,
): RowsWithErrors<R> => {
  const [errorKeys, setErrorKeys] = useState<ReadonlySet<number> | null>(null);
  const shown = useMemo(() => {
    const numbered = rows.map((row, index) => ({ row, number: index + 1 }));
    if (errorKeys === null) return numbered;
    return numbered.filter(({ row: { key } }) => errorKeys.has(key) || problems.has(key));
  }, [rows, errorKeys, problems]);
  return {
    shown,
    onlyErrors: errorKeys !== null,
    setOnlyErrors: (only) => setErrorKeys(only ? new Set(problems.keys()) : null),
  };
};
