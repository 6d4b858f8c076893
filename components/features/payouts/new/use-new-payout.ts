"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useSearchParams } from "next/navigation";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useForm, type UseFormReturn, useWatch } from "react-hook-form";
import { z } from "zod";
import { useCache, useSentOnce } from "@/components/features/session/use-api";
import {
  createAccountsPayout,
  createPayoutSchedule,
  createWalletsPayout,
  listPayouts,
  listPayoutSchedules,
} from "@/lib/api-client/calls.gen";
import { SCHEDULE_PERIODS } from "@/lib/contracts/payout-schedules";
import { countText } from "@/lib/core/amount-text";
import { pathOfPayout, pathOfSchedule } from "../payout";
import { type AccountsBody, accountTransfers } from "./account-rules";
import {
  type DraftOwner,
  type DraftRow,
  type DraftTotal,
  type DraftValues,
  dropDraft,
  EMPTY_ROW,
  filledText,
  hasProblems,
  isBlank,
  readDraft,
  repeatsOf,
  type RowProblems,
  saveDraft,
  totalsOf,
} from "./draft-row";
import { requestProblem } from "./request-size";
import { scheduleProblems, type ScheduleValues, toSchedule } from "./schedule-values";
import { type Findings, findingsOf, NO_FINDINGS } from "./server-findings";
import { type PayoutKind, type Target, useTarget } from "./use-target";
import { type WalletsBody, walletTransfers } from "./wallet-rules";

export interface NewPayout extends Omit<DraftRows, "change" | "replace" | "drop"> {
  readonly target: Target;
  readonly change: (key: number, part: Partial<DraftValues>) => void;
  readonly replace: (values: readonly DraftValues[]) => void;
  readonly clear: () => void;
  readonly options: PayoutOptions;
  readonly optionsForm: OptionsForm;
  /** Rows that are not empty. */
  readonly filled: readonly DraftRow[];
  /**
   * Problems by row key. While a person types in a row, the row has only the problems that the
   * service found.
   */
  readonly problems: ReadonlyMap<number, RowProblems>;
  /** Why a row may be a duplicate, by row key. */
  readonly duplicates: ReadonlyMap<number, string>;
  readonly totals: readonly DraftTotal[];
  readonly sizeProblem: string | null;
  /** The request for the current rows and options; null while the source is unknown. */
  readonly body: WalletsBody | AccountsBody | null;
  /**
   * Creates the payout or schedule, which then waits for its approval. Returns the path of its
   * review, or null when the page or the service found a problem.
   */
  readonly submit: () => Promise<string | null>;
  readonly submitting: boolean;
  /** The service's error; null when each of its messages is shown at a row. */
  readonly error: Error | null;
}

const bodyOf = (
  target: Target,
  rows: readonly DraftRow[],
  options: PayoutOptions,
): NewPayout["body"] => {
  const common = {
    reference: filledText(options.reference),
    allowDuplicates: options.payDuplicates || undefined,
  };
  if (target.kind === "wallets") {
    const { wallets } = target;
    if (wallets === null) return null;
    return {
      chainId: wallets.chainId,
      ...common,
      fundFrom: options.fund ? "auto" : undefined,
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

interface Request {
  readonly body: WalletsBody | AccountsBody;
  readonly schedule: ScheduleValues | null;
}

/** Creates the payout or schedule of the form. `create` returns the path of its review. */
const useCreate = () => {
  const cache = useCache();
  const wallets = useSentOnce(createWalletsPayout);
  const accounts = useSentOnce(createAccountsPayout);
  const schedules = useSentOnce(createPayoutSchedule);

  const createSchedule = async (body: WalletsBody, values: ScheduleValues) => {
    const timing = toSchedule(values);
    if (timing === null) return null;
    const { chainId, transfers, reference, fundFrom } = body;
    const request = { chainId, transfers, reference, fundFrom, ...timing };
    const schedule = await schedules.send({ body: request });
    void cache.refresh(listPayoutSchedules);
    return pathOfSchedule(schedule);
  };

  const create = async ({ body, schedule }: Request): Promise<string | null> => {
    if (isWallets(body) && schedule !== null) return createSchedule(body, schedule);
    const payout = isWallets(body)
      ? await wallets.send({ body })
      : await accounts.send({ body });
    void cache.refresh(listPayouts);
    const { payoutId } = payout;
    return payoutId === null ? null : pathOfPayout({ ...payout, payoutId });
  };

  const all = [wallets, accounts, schedules];
  return { create, pending: all.some(({ mutation }) => mutation.isPending) };
};

const useFindings = (target: Target, filled: readonly DraftRow[], serverFindings: Findings) => {
  const { rules } = target;
  const formProblems = useMemo(() => {
    const found = new Map<number, RowProblems>();
    if (rules === null) return found;
    for (const row of filled) {
      const problems = row.checked ? rules.problemsOf(row) : {};
      if (hasProblems(problems)) found.set(row.key, problems);
    }
    return found;
  }, [filled, rules]);
  const keys = useMemo(() => new Set(filled.map(({ key }) => key)), [filled]);
  const problems = useMemo(
    () =>
      new Map([...serverFindings.problems, ...formProblems].filter(([key]) => keys.has(key))),
    [serverFindings.problems, formProblems, keys],
  );
  const duplicates = useMemo(() => {
    const repeats = rules === null ? new Map<number, number>() : repeatsOf(filled, rules);
    const worded = [...repeats].map(
      ([key, row]) => [key, `Pays the same as row ${countText(row)}.`] as const,
    );
    return new Map([...serverFindings.duplicates, ...worded].filter(([key]) => keys.has(key)));
  }, [filled, rules, serverFindings.duplicates, keys]);
  const totals = useMemo(() => {
    // Leaves out all rows with problems, including problems that only the service found.
    const payable = filled.filter(({ key }) => !problems.has(key));
    return rules === null ? [] : totalsOf(payable, rules);
  }, [filled, rules, problems]);
  const wrong = (): boolean =>
    rules === null || filled.some((row) => hasProblems(rules.problemsOf(row)));
  return { problems, duplicates, totals, wrong };
};

const without = <Value>(
  map: ReadonlyMap<number, Value>,
  key: number,
): ReadonlyMap<number, Value> =>
  map.has(key) ? new Map([...map].filter(([other]) => other !== key)) : map;

export const useNewPayout = (): NewPayout => {
  const target = useTarget();
  const { owner, kind } = target;
  const draft = useDraftRows(owner === null ? null : { owner, kind });
  const { form: optionsForm, options } = usePayoutOptions(kind);
  const [serverFindings, setServerFindings] = useState(NO_FINDINGS);
  const { create, pending } = useCreate();
  const [isLeaving, setLeaving] = useState(false);
  const filled = useMemo(() => draft.rows.filter((row) => !isBlank(row)), [draft.rows]);
  const { problems, duplicates, totals, wrong } = useFindings(target, filled, serverFindings);
  const sizeProblem = useMemo(() => requestProblem(filled), [filled]);
  const body = useMemo(
    () => bodyOf(target, filled, options),
    [target.wallets, target.source?.id, kind, filled, options],
  );

  useEffect(
    () =>
      setServerFindings((before) =>
        before.error === null ? before : { ...before, error: null },
      ),
    [options],
  );

  const replace = (values: readonly DraftValues[]): void => {
    setServerFindings(NO_FINDINGS);
    draft.replace(values);
  };
  const change = useCallback(
    (key: number, part: Partial<DraftValues>): void => {
      setServerFindings((before) => ({
        problems: without(before.problems, key),
        duplicates: without(before.duplicates, key),
        error: null,
      }));
      draft.change(key, part);
    },
    [draft.change],
  );

  const submit = async (): Promise<string | null> => {
    draft.checkAll();
    setServerFindings(NO_FINDINGS);
    const schedule = kind === "wallets" ? options.schedule : null;
    if (body === null || filled.length === 0 || sizeProblem !== null || wrong()) return null;
    try {
      const path = await create({ body, schedule });
      if (path === null) return null;
      setLeaving(true);
      draft.drop();
      return path;
    } catch (error) {
      const keys = filled.map(({ key }) => key);
      setServerFindings(findingsOf(error as Error, keys));
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
    submit,
    // Stays true until the review is open, so that nobody creates a second payout.
    submitting: pending || isLeaving,
    error: serverFindings.error,
  };
};

const SAVE_AFTER_MS = 600;

interface DraftRows {
  readonly rows: readonly DraftRow[];
  readonly change: (key: number, part: Partial<DraftValues>) => void;
  readonly add: () => void;
  readonly remove: (keys: ReadonlySet<number>) => void;
  /** Adds rows, and removes the empty ones. */
  readonly append: (values: readonly DraftValues[]) => void;
  readonly replace: (values: readonly DraftValues[]) => void;
  /** Shows the problems of every row. */
  readonly checkAll: () => void;
  /** Deletes the stored rows, and stops storing rows. */
  readonly drop: () => void;
}

interface State {
  readonly rows: readonly DraftRow[];
  readonly nextKey: number;
}

const appended = (
  rows: readonly DraftRow[],
  values: readonly DraftValues[],
  nextKey: number,
): State => ({
  rows: [...rows, ...values.map((value, index) => ({ ...value, key: nextKey + index }))],
  nextKey: nextKey + values.length,
});

const checkedRow = (row: DraftRow): DraftRow =>
  row.checked || isBlank(row) ? row : { ...row, checked: true };

/**
 * The rows of a new payout. They are stored in this tab until they are sent. Nothing is stored
 * while `owner` is null, because the owner is still loading.
 */
const useDraftRows = (owner: DraftOwner | null): DraftRows => {
  const [{ rows }, setState] = useState<State>({ rows: [], nextKey: 1 });
  const ownerId = owner?.owner ?? null;
  const kind = owner?.kind ?? "";
  const isDropped = useRef(false);

  useEffect(() => {
    if (ownerId === null) return;
    const found = readDraft({ owner: ownerId, kind });
    setState((before) => appended([], found ?? [], before.nextKey));
  }, [ownerId, kind]);

  useEffect(() => {
    if (ownerId === null || rows.length === 0) return;
    const save = (): void => {
      if (!isDropped.current) saveDraft({ owner: ownerId, kind }, rows);
    };
    const timer = setTimeout(save, SAVE_AFTER_MS);
    // Saves the last input also when the person leaves the page before the timer ends.
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
      (key, part) =>
        update((all) => all.map((row) => (row.key === key ? { ...row, ...part } : row))),
      [update],
    ),
    remove: useCallback(
      (keys) => update((all) => all.filter((row) => !keys.has(row.key))),
      [update],
    ),
    checkAll: useCallback(() => update((all) => all.map(checkedRow)), [update]),
    drop: useCallback(() => {
      isDropped.current = true;
      dropDraft();
    }, []),
    add: useCallback(
      () => setState((before) => appended(before.rows, [EMPTY_ROW], before.nextKey)),
      [],
    ),
    append: useCallback(
      (values) =>
        setState(({ rows: before, nextKey }) => {
          const filled = before.filter((row) => !isBlank(row));
          return appended(filled, values, nextKey);
        }),
      [],
    ),
    replace: useCallback(
      (values) => setState((before) => appended([], values, before.nextKey)),
      [],
    ),
  };
};

export const REFERENCE_MAX = 140;

const scheduleForm = z
  .object({
    startsAt: z.string(),
    every: z.enum([...SCHEDULE_PERIODS, "once"]),
    timeZone: z.string(),
    endsAt: z.string(),
  })
  .superRefine((schedule, context) => {
    for (const [name, message] of Object.entries(scheduleProblems(schedule, Date.now())))
      context.addIssue({ code: "custom", path: [name], message });
  });

const fields = z.object({
  mode: z.enum(["atomic", "independent"]),
  reference: z
    .string()
    .trim()
    .max(REFERENCE_MAX, `Use at most ${String(REFERENCE_MAX)} characters.`),
  payDuplicates: z.boolean(),
  fund: z.boolean(),
  schedule: scheduleForm.nullable(),
});

type PayoutOptions = z.infer<typeof fields>;
export type OptionsForm = UseFormReturn<PayoutOptions>;

const FORMS = {
  wallets: fields,
  // Payouts between accounts have no schedule. A schedule that was entered for wallets stays in the
  // form and is not validated.
  global_accounts: fields.extend({ schedule: z.custom<PayoutOptions["schedule"]>(() => true) }),
} as const;

const START: PayoutOptions = {
  mode: "atomic",
  reference: "",
  payDuplicates: false,
  fund: false,
  schedule: null,
};

/** Options in the page's address, which an edited or copied payout sets. */
const useStart = (): PayoutOptions => {
  const address = useSearchParams();
  return {
    ...START,
    mode: address.get("mode") === "independent" ? "independent" : "atomic",
    reference: address.get("reference") ?? "",
    fund: address.get("fund") === "auto",
  };
};

/**
 * The form of the payout's options, and their values. The values are the same object until one of
 * them changes.
 */
const usePayoutOptions = (
  kind: PayoutKind,
): { readonly form: OptionsForm; readonly options: PayoutOptions } => {
  const form = useForm<PayoutOptions>({
    resolver: zodResolver(FORMS[kind]),
    defaultValues: useStart(),
    mode: "onChange",
  });
  const [mode, reference, payDuplicates, fund, schedule] = useWatch({
    control: form.control,
    name: ["mode", "reference", "payDuplicates", "fund", "schedule"],
  });
  const options = useMemo(
    () => ({ mode, reference, payDuplicates, fund, schedule }),
    [mode, reference, payDuplicates, fund, schedule],
  );
  return { form, options };
};
