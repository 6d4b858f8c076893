"use client";

import { useMemo, useState } from "react";
import { detailsOf } from "@/components/features/money-flow/api-error";
import { usePublicConfig } from "@/components/providers/public-config";
import type { ResponseOf } from "@/lib/contracts/contract";
import type { importContacts } from "@/lib/api-client/calls.gen";
import { useImportContacts } from "../use-contacts";
import type { ContactCells } from "./contact-columns";
import {
  type CellProblems,
  type ContactRow,
  problemsOf,
  refusedCells,
  sentRows,
} from "./contact-rows";

export type ImportedRow = ResponseOf<typeof importContacts>["data"][number];
type Existing = "skip" | "update";

export interface ContactImport {
  readonly rows: readonly ContactRow[];
  readonly problems: ReadonlyMap<number, CellProblems>;
  readonly existing: Existing;
  readonly setExisting: (existing: Existing) => void;
  readonly change: (key: number, cells: Partial<ContactCells>) => void;
  readonly remove: (keys: ReadonlySet<number>) => void;
  /** The outcome of each row, by key; null until the service has checked the current rows. */
  readonly checked: ReadonlyMap<number, ImportedRow> | null;
  readonly check: () => Promise<void>;
  /** Stores the contacts. Resolves with null when the service returned an error. */
  readonly send: () => Promise<readonly ImportedRow[] | null>;
  readonly error: Error | null;
  readonly busy: boolean;
}

const NO_REFUSALS: ReadonlyMap<number, CellProblems> = new Map();

/** The rows of an import, which the person may correct until the service accepts them. */
export const useContactImport = (cells: readonly ContactCells[]): ContactImport => {
  const { chains } = usePublicConfig();
  const request = useImportContacts();
  const [rows, setRows] = useState<readonly ContactRow[]>(() =>
    cells.map((each, key) => ({ ...each, key })),
  );
  const [existing, chooseExisting] = useState<Existing>("skip");
  const [refused, setRefused] = useState(NO_REFUSALS);
  const [checked, setChecked] = useState<ContactImport["checked"]>(null);
  const [error, setError] = useState<Error | null>(null);
  const local = useMemo(() => problemsOf(rows, chains), [rows, chains]);
  const problems = useMemo(() => new Map([...refused, ...local]), [refused, local]);

  const edit = (next: readonly ContactRow[]): void => {
    setRows(next);
    setRefused(NO_REFUSALS);
    setChecked(null);
    setError(null);
  };
  const call = async (
    validateOnly: boolean,
    how: Existing,
  ): Promise<readonly ImportedRow[] | null> => {
    setError(null);
    try {
      const contacts = sentRows(rows, chains);
      return (await request.mutateAsync({ contacts, existing: how, validateOnly })).data;
    } catch (failure) {
      const found = refusedCells(detailsOf(failure), rows);
      if (found === null) setError(failure as Error);
      else setRefused(found);
      setChecked(null);
      return null;
    }
  };
  const checkAs = async (how: Existing): Promise<void> => {
    const data = await call(true, how);
    if (data === null) return;
    const keyed = rows.flatMap(({ key }, index) => {
      const one = data[index];
      return one === undefined ? [] : [[key, one] as const];
    });
    setChecked(new Map(keyed));
  };
  return {
    rows,
    problems,
    existing,
    setExisting: (how) => {
      chooseExisting(how);
      setChecked(null);
      void checkAs(how);
    },
    change: (key, part) =>
      edit(rows.map((row) => (row.key === key ? { ...row, ...part } : row))),
    remove: (keys) => edit(rows.filter(({ key }) => !keys.has(key))),
    checked,
    check: () => checkAs(existing),
    send: () => call(false, existing),
    error,
    busy: request.isPending,
  };
};
