"use client";

import { parseAsString, useQueryState } from "nuqs";
import { useMemo, useState } from "react";
import { useAccount } from "@/components/features/global-accounts/use-accounts";
import type { Account } from "@/components/features/global-accounts/account";
import { detailsOf } from "@/components/features/money-flow/api-error";
import { useApiMutation } from "@/components/features/session/use-api";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import {
  EMPTY_ROW,
  hasProblems,
  isBlank,
  problemsOf,
  repeatsOf,
  rowProblemsOf,
  toPayoutBody,
  totalBase,
  type PayoutBody,
  type PayoutOptions,
  type PayoutRow,
  type RowProblems,
} from "./row-model";

export interface PayoutForm {
  /** Id of the account that pays, and its record once it is known. */
  readonly sourceId: string;
  readonly source: Account | undefined;
  readonly sourceError: Error | null;
  readonly setSource: (id: string) => void;
  readonly rows: readonly PayoutRow[];
  readonly change: (key: number, part: Partial<PayoutRow>) => void;
  readonly add: () => void;
  readonly remove: (key: number) => void;
  /** Takes the place of rows in which nothing stands yet. */
  readonly append: (values: readonly Omit<PayoutRow, "key">[]) => void;
  readonly clear: () => void;
  readonly options: PayoutOptions;
  readonly setOptions: (part: Partial<PayoutOptions>) => void;
  /** By the key of the row; of rows that were not looked at yet only what the service said. */
  readonly problems: ReadonlyMap<number, RowProblems>;
  readonly repeats: ReadonlySet<number>;
  readonly filled: number;
  readonly totalBase: bigint;
  /** Of what would be sent now; null while the source is not known. */
  readonly body: PayoutBody | null;
  /** Lets this page, then the service look at everything. Answers whether all is well. */
  readonly check: () => Promise<boolean>;
  readonly checking: boolean;
  /** What the service said that stands at no row. */
  readonly error: Error | null;
}

const NO_PROBLEMS: ReadonlyMap<number, RowProblems> = new Map();

const rekeyed = (values: readonly Omit<PayoutRow, "key">[], from: number): PayoutRow[] =>
  values.map((value, index) => ({ ...value, key: from + index }));

const useRows = () => {
  const [{ rows }, setState] = useState({ rows: rekeyed([EMPTY_ROW], 0), next: 1 });
  const append = (values: readonly Omit<PayoutRow, "key">[]): void =>
    setState((before) => ({
      rows: [...before.rows.filter((row) => !isBlank(row)), ...rekeyed(values, before.next)],
      next: before.next + values.length,
    }));
  return {
    rows,
    append,
    change: (key: number, part: Partial<PayoutRow>): void =>
      setState((before) => ({
        ...before,
        rows: before.rows.map((row) => (row.key === key ? { ...row, ...part } : row)),
      })),
    add: (): void =>
      setState((before) => ({ rows: [...before.rows, ...rekeyed([EMPTY_ROW], before.next)], next: before.next + 1 })),
    remove: (key: number): void =>
      setState((before) => ({ ...before, rows: before.rows.filter((row) => row.key !== key) })),
    clear: (): void => setState((before) => ({ rows: rekeyed([EMPTY_ROW], before.next), next: before.next + 1 })),
  };
};

export const usePayoutForm = (): PayoutForm => {
  const [sourceId, setSourceId] = useQueryState(
    "from",
    parseAsString.withDefault("").withOptions({ history: "replace" }),
  );
  const { data: source, error: sourceError } = useAccount(sourceId);
  const { rows, change, ...list } = useRows();
  const [options, setOptions] = useState<PayoutOptions>({ mode: "atomic", reference: "" });
  const [tried, setTried] = useState(false);
  const [said, setSaid] = useState(NO_PROBLEMS);
  const [unplaced, setUnplaced] = useState<Error | null>(null);
  const validation = useApiMutation(createAccountsPayout);
  const sent = useMemo(() => rows.filter((row) => !isBlank(row)), [rows]);
  const own = useMemo(
    () =>
      source === undefined
        ? NO_PROBLEMS
        : new Map(
            sent.map((row) => [row.key, problemsOf(row, source)] as const).filter(([, each]) => hasProblems(each)),
          ),
    [sent, source],
  );
  const repeats = useMemo(() => repeatsOf(sent), [sent]);
  const total = useMemo(() => (source === undefined ? 0n : totalBase(sent, source)), [sent, source]);
  const problems = useMemo(() => (tried ? new Map([...said, ...own]) : said), [tried, said, own]);
  const content = useMemo(
    () => (source === undefined ? null : toPayoutBody(rows, source, options)),
    [rows, source, options],
  );

  const check = async (): Promise<boolean> => {
    setTried(true);
    setSaid(NO_PROBLEMS);
    setUnplaced(null);
    if (content === null || own.size > 0 || content.keys.length === 0) return false;
    try {
      await validation.mutateAsync({ body: { ...content.body, validateOnly: true } });
      return true;
    } catch (error) {
      const placed = rowProblemsOf(detailsOf(error), content.keys);
      setSaid(placed.rows);
      setUnplaced(placed.complete ? null : (error as Error));
      return false;
    }
  };

  return {
    sourceId,
    source,
    sourceError,
    setSource: (id) => {
      setSaid(NO_PROBLEMS);
      setUnplaced(null);
      void setSourceId(id);
    },
    rows,
    ...list,
    change: (key, part) => {
      setUnplaced(null);
      setSaid((before) => (before.has(key) ? new Map([...before].filter(([other]) => other !== key)) : before));
      change(key, part);
    },
    options,
    setOptions: (part) => {
      setUnplaced(null);
      setOptions((before) => ({ ...before, ...part }));
    },
    problems,
    repeats,
    filled: sent.length,
    totalBase: total,
    body: content?.body ?? null,
    check,
    checking: validation.isPending,
    error: unplaced,
  };
};
