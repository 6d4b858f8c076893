"use client";

import { zodResolver } from "@hookform/resolvers/zod";
import { useMemo } from "react";
import { useForm, useWatch, type UseFormReturn } from "react-hook-form";
import { z } from "zod";
import { SCHEDULE_PERIODS } from "@/lib/contracts/payout-schedules";
import type { PayoutKind } from "./use-target";
import { scheduleProblems } from "./schedule-values";

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

export type PayoutOptions = z.infer<typeof fields>;
export type OptionsForm = UseFormReturn<PayoutOptions>;

const FORMS = {
  wallets: fields,
  // Payouts between accounts have no schedule; one that was typed for wallets is kept and not judged.
  global_accounts: fields.extend({ schedule: z.custom<PayoutOptions["schedule"]>(() => true) }),
} as const;

const START: PayoutOptions = { mode: "atomic", reference: "", payDuplicates: false, fund: false, schedule: null };

/** The form of what holds for a whole payout, and its values: the same object until one of them changes. */
export const usePayoutOptions = (kind: PayoutKind): { readonly form: OptionsForm; readonly options: PayoutOptions } => {
  const form = useForm<PayoutOptions>({ resolver: zodResolver(FORMS[kind]), defaultValues: START, mode: "onChange" });
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
