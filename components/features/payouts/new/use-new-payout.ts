"use client";

import { useCallback, useEffect, useMemo, useState } from "react";
import { codeOf } from "@/components/features/money-flow/api-error";
import { useApiMutation } from "@/components/features/session/use-api";
import { createAccountsPayout, createWalletsPayout } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { countText } from "@/lib/core/amount-text";
import { accountTransfers, type AccountsBody } from "./account-rules";
import {
  hasProblems,
  isBlank,
  repeatsOf,
  totalsOf,
  type DraftRow,
  type DraftTotal,
  type DraftValues,
  type RowProblems,
} from "./draft-row";
import { dropDraft } from "./draft-store";
import { requestProblem } from "./request-size";
import type { ScheduleValues } from "./schedule-values";
import { findingsOf, NO_FINDINGS, type Findings } from "./server-findings";
import { useDraftRows, type DraftRows } from "./use-draft-rows";
import { usePayoutOptions, type OptionsForm, type PayoutOptions } from "./use-payout-options";
import { useTarget, type Target } from "./use-target";
import { walletTransfers, type WalletsBody } from "./wallet-rules";

/** A payout that the service has validated, ready to be reviewed and sent. */
export type Checked =
  | {
      readonly kind: "wallets";
      readonly body: WalletsBody;
      /** Null where only the balance of today is too small for a payout that runs later. */
      readonly answer: ResponseOf<typeof createWalletsPayout> | null;
      readonly schedule: ScheduleValues | null;
    }
  | { readonly kind: "global_accounts"; readonly body: AccountsBody };

export interface NewPayout extends Omit<DraftRows, "change" | "replace"> {
  readonly target: Target;
  readonly change: (key: number, part: Partial<DraftValues>) => void;
  readonly replace: (values: readonly DraftValues[]) => void;
  readonly clear: () => void;
  readonly options: PayoutOptions;
  /** The form of the options. */
  readonly optionsForm: OptionsForm;
  /** Rows that are not empty. */
  readonly filled: readonly DraftRow[];
  /** Problems by the row's key. A row that is still being typed in shows only the problems that the service named. */
  readonly problems: ReadonlyMap<number, RowProblems>;
  /** Why a row may be a duplicate, by the key of the row. */
  readonly duplicates: ReadonlyMap<number, string>;
  readonly totals: readonly DraftTotal[];
  readonly sizeProblem: string | null;
  /** The request that would be sent now; null while the sender is not known. */
  readonly body: WalletsBody | AccountsBody | null;
  /** Called once the options are right. */
  readonly check: () => Promise<Checked | null>;
  readonly checking: boolean;
  /** Messages of the service that belong to no row. */
  readonly error: Error | null;
}

/** A run in the future is checked against the balance of that day. */
const PASSING: ReadonlySet<string | null> = new Set(["insufficient_balance", "insufficient_reserves"]);

const bodyOf = (target: Target, rows: readonly DraftRow[], options: PayoutOptions): NewPayout["body"] => {
  const common = {
    ...(options.reference.trim() === "" ? {} : { reference: options.reference.trim() }),
    ...(options.payDuplicates ? { allowDuplicates: true } : {}),
  };
  if (target.kind === "wallets") {
    const { wallets } = target;
    if (wallets === null) return null;
    return {
      chainId: wallets.chainId,
      ...common,
      ...(options.fund ? { fundFrom: "auto" as const } : {}),
      transfers: walletTransfers(rows, wallets),
    };
  }
  if (target.source === undefined) return null;
  return {
    sourceAccountId: target.source.id,
    mode: options.mode,
    ...common,
    transfers: accountTransfers(rows, target.source),
  };
};

const isWallets = (body: WalletsBody | AccountsBody): body is WalletsBody => "chainId" in body;

/** Asks the service whether all rows could be paid. */
const useValidation = () => {
  const wallets = useApiMutation(createWalletsPayout);
  const accounts = useApiMutation(createAccountsPayout);
  const validate = async (body: WalletsBody | AccountsBody, schedule: ScheduleValues | null): Promise<Checked> => {
    if (!isWallets(body)) {
      await accounts.mutateAsync({ body: { ...body, validateOnly: true } });
      return { kind: "global_accounts", body };
    }
    const asked = { ...body, validateOnly: true, ...(schedule === null ? {} : { allowDuplicates: true }) };
    try {
      return { kind: "wallets", body, schedule, answer: await wallets.mutateAsync({ body: asked }) };
    } catch (error) {
      if (schedule !== null && PASSING.has(codeOf(error))) return { kind: "wallets", body, schedule, answer: null };
      throw error;
    }
  };
  return { validate, pending: wallets.isPending || accounts.isPending };
};

/** Problems and doubles of the rows, those of the page and those of the service together. */
const useFindings = (target: Target, filled: readonly DraftRow[], said: Findings) => {
  const { rules } = target;
  const own = useMemo(() => {
    const found = new Map<number, RowProblems>();
    if (rules === null) return found;
    for (const row of filled) {
      const problems = row.checked ? rules.problemsOf(row) : {};
      if (hasProblems(problems)) found.set(row.key, problems);
    }
    return found;
  }, [filled, rules]);
  const problems = useMemo(() => new Map([...said.problems, ...own]), [said.problems, own]);
  const duplicates = useMemo(() => {
    const repeats = rules === null ? new Map<number, number>() : repeatsOf(filled, rules);
    const worded = [...repeats].map(([key, row]) => [key, `Pays the same as row ${countText(row)}.`] as const);
    return new Map([...said.duplicates, ...worded]);
  }, [filled, rules, said.duplicates]);
  const totals = useMemo(() => (rules === null ? [] : totalsOf(filled, rules)), [filled, rules]);
  const wrong = (): boolean => rules === null || filled.some((row) => hasProblems(rules.problemsOf(row)));
  return { problems, duplicates, totals, wrong };
};

const without = <Value>(map: ReadonlyMap<number, Value>, key: number): ReadonlyMap<number, Value> =>
  map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map;

/** Everything that the page for a new payout knows and does. */
export const useNewPayout = (): NewPayout => {
  const target = useTarget();
  const { owner, kind } = target;
  const draft = useDraftRows(owner === null ? null : { owner, kind });
  const { form: optionsForm, options } = usePayoutOptions(kind);
  const [said, setSaid] = useState(NO_FINDINGS);
  const { validate, pending } = useValidation();
  const filled = useMemo(() => draft.rows.filter((row) => !isBlank(row)), [draft.rows]);
  const { problems, duplicates, totals, wrong } = useFindings(target, filled, said);
  const sizeProblem = useMemo(() => requestProblem(filled), [filled]);
  const body = useMemo(
    () => bodyOf(target, filled, options),
    [target.wallets, target.source?.id, kind, filled, options],
  );

  useEffect(() => setSaid((before) => (before.error === null ? before : { ...before, error: null })), [options]);

  const replace = (values: readonly DraftValues[]): void => {
    setSaid(NO_FINDINGS);
    draft.replace(values);
  };
  const change = useCallback(
    (key: number, part: Partial<DraftValues>): void => {
      setSaid((before) => ({
        problems: without(before.problems, key),
        duplicates: without(before.duplicates, key),
        error: null,
      }));
      draft.change(key, part);
    },
    [draft.change],
  );

  const check = async (): Promise<Checked | null> => {
    draft.checkAll();
    setSaid(NO_FINDINGS);
    const schedule = kind === "wallets" ? options.schedule : null;
    if (body === null || filled.length === 0 || sizeProblem !== null || wrong()) return null;
    try {
      return await validate(body, schedule);
    } catch (error) {
      setSaid(
        findingsOf(
          error as Error,
          filled.map(({ key }) => key),
        ),
      );
      return null;
    }
  };

  return {
    target,
    ...draft,
    change,
    replace,
    clear: () => {
      dropDraft();
      replace([]);
    },
    options,
    optionsForm,
    filled,
    problems,
    duplicates,
    totals,
    sizeProblem,
    body,
    check,
    checking: pending,
    error: said.error,
  };
};
