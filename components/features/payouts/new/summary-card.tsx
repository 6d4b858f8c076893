"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { toScaled } from "@/components/features/swap/decimal";
import { Amount, HeldAmount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Card, Fact, Facts } from "@/components/ui/card";
import { Checkbox, Field, Input } from "@/components/ui/field";
import { Form, FormError, TextField } from "@/components/ui/form";
import { TokenMark } from "@/components/ui/marks";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { SCHEDULE_PERIODS } from "@/lib/contracts/payout-schedules";
import { countText } from "@/lib/core/amount-text";
import { formatAmount } from "@/lib/core/money";
import type { DraftTotal } from "./draft-row";
import { counted } from "./amount-rules";
import { localOf, browserTimeZone, PERIOD_WORDS, type ScheduleValues } from "./schedule-values";
import { type NewPayout, type OptionsForm, REFERENCE_MAX } from "./use-new-payout";

const MODES = [
  {
    value: "atomic",
    label: "All or nothing",
    description: "If one row fails, nothing is paid.",
  },
  {
    value: "independent",
    label: "Independent",
    description: "Pay what can be paid; failed rows can be retried.",
  },
] as const;

interface SummaryCardProps {
  readonly form: NewPayout;
  readonly onReview: () => Promise<void>;
}

export const SummaryCard = ({ form, onReview }: SummaryCardProps): ReactNode => {
  const { target, filled, submitting, problems, duplicates, options } = form;
  const ready = target.rules !== null && filled.length > 0 && form.sizeProblem === null;
  return (
    <Card title="Total" className="lg:sticky lg:top-16">
      <Form
        form={form.optionsForm}
        error={form.error}
        onSubmit={onReview}
        className="flex flex-col gap-4"
      >
        <Facts className="-my-2">
          <Fact label="Rows">{countText(filled.length)}</Fact>
          {problems.size === 0 ? null : (
            <Fact label="With errors">
              <span className="font-medium text-danger">
                {countText(problems.size)}, not in the total
              </span>
            </Fact>
          )}
          {duplicates.size === 0 ? null : (
            <Fact label="Duplicates">
              <span className="font-medium text-warning">
                {countText(duplicates.size)}
                {options.payDuplicates ? ", paid anyway" : ""}
              </span>
            </Fact>
          )}
          {form.totals.map((total) => (
            <TotalLines
              key={total.id}
              total={total}
              available={target.available(total.id)}
              form={form}
            />
          ))}
        </Facts>
        <Options form={form} />
        <FormError money="Nothing was paid." />
        <Button
          type="submit"
          variant="primary"
          size="lg"
          loading={submitting}
          disabled={!ready}
        >
          {target.kind === "wallets" && options.schedule !== null
            ? "Review schedule"
            : "Review payout"}
        </Button>
        {ready ? null : <p className="text-sm text-fg-3">{unreadyText(form)}</p>}
      </Form>
    </Card>
  );
};

const unreadyText = ({ target, filled }: NewPayout): string => {
  if (target.rules === null) return "Choose the account that pays.";
  return filled.length === 0 ? "Add at least one row." : "These rows cannot go in one payout.";
};

interface TotalLinesProps {
  readonly total: DraftTotal;
  readonly available: string | null;
  readonly form: NewPayout;
}

const TotalLines = ({ total, available, form }: TotalLinesProps): ReactNode => {
  const { symbol, decimals, base, rows } = total;
  const left = available === null ? null : (toScaled(available, decimals) ?? 0n) - base;
  const amount = (value: bigint): ReactNode => (
    <Amount value={formatAmount(value, decimals)} unit={symbol} />
  );
  return (
    <>
      <Fact
        strong
        label={
          <span className="inline-flex items-center gap-2">
            <TokenMark symbol={symbol} />{" "}
            {form.totals.length > 1 ? counted(rows, "row") : "Total"}
          </span>
        }
      >
        {amount(base)}
      </Fact>
      <Fact label="Available">
        {available === null ? (
          <span
            className="text-fg-3"
            title="The balance is not known now; the service checks it."
          >
            –
          </span>
        ) : (
          <HeldAmount value={available} unit={symbol} />
        )}
      </Fact>
      {left === null || left >= 0n ? null : (
        <Fact label={<span className="font-medium text-warning">You are short</span>}>
          <span className="font-medium text-warning">{amount(-left)}</span>
          {form.target.source === undefined ? null : (
            <Link href={`/accounts/${form.target.source.id}`} className="link ml-2">
              Fund the account
            </Link>
          )}
        </Fact>
      )}
    </>
  );
};

const Options = ({
  form: { target, optionsForm },
}: {
  readonly form: NewPayout;
}): ReactNode => {
  const { control } = optionsForm;
  return (
    <div className="flex flex-col gap-3">
      <TextField
        control={control}
        name="reference"
        label="Reference"
        hint="Optional; each row may have its own."
        input={{ maxLength: REFERENCE_MAX }}
      />
      {target.kind === "global_accounts" ? (
        <ModeCards form={optionsForm} />
      ) : (
        <>
          <FundBox form={optionsForm} />
          <ScheduleFields form={optionsForm} />
        </>
      )}
    </div>
  );
};

const ModeCards = ({ form }: { readonly form: OptionsForm }): ReactNode => {
  const { value, onChange } = useController({ control: form.control, name: "mode" }).field;
  return (
    <RadioCards label="If a row fails" value={value} onValueChange={onChange} options={MODES} />
  );
};

const FundBox = ({ form }: { readonly form: OptionsForm }): ReactNode => {
  const { value, onChange, ...field } = useController({
    control: form.control,
    name: "fund",
  }).field;
  return (
    <Checkbox
      {...field}
      label="Bring missing money from other chains first"
      checked={value}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
};

const TOMORROW_MS = 24 * 60 * 60 * 1_000;

const startValues = (): ScheduleValues => {
  const timeZone = browserTimeZone();
  const day = localOf(new Date(Date.now() + TOMORROW_MS), timeZone).slice(
    0,
    "2026-05-01".length,
  );
  return { startsAt: `${day}T09:00`, every: "month", timeZone, endsAt: "" };
};

/** All time zones; the chosen one and UTC come first. */
const zones = (chosen: string): readonly string[] => [
  ...new Set([chosen, "UTC", ...Intl.supportedValuesOf("timeZone")]),
];

/**
 * Fields for a payout that runs later or repeatedly. The schedule is one field of the form, because
 * its start and end are checked together.
 */
const ScheduleFields = ({ form }: { readonly form: OptionsForm }): ReactNode => {
  const { field, formState } = useController({ control: form.control, name: "schedule" });
  const schedule = field.value;
  const problems = formState.errors.schedule;
  // Validates the whole form, because validating only this field would leave out the errors inside
  // its object.
  const set = (next: ScheduleValues | null): void => {
    form.setValue("schedule", next);
    void form.trigger();
  };
  const change = (part: Partial<ScheduleValues>): void => {
    if (schedule !== null) set({ ...schedule, ...part });
  };
  return (
    <>
      <Checkbox
        label="Pay later or repeatedly"
        checked={schedule !== null}
        onChange={(event) => set(event.target.checked ? startValues() : null)}
      />
      {schedule === null ? null : (
        <fieldset className="flex flex-col gap-3 border-l-2 pl-3">
          <legend className="sr-only">Schedule</legend>
          <Field label="Start" error={problems?.startsAt?.message}>
            <Input
              type="datetime-local"
              value={schedule.startsAt}
              onChange={(event) => change({ startsAt: event.target.value })}
            />
          </Field>
          <Field label="Repeat">
            <Select
              value={schedule.every}
              onValueChange={(value) =>
                change({ every: SCHEDULE_PERIODS.find((one) => one === value) ?? "once" })
              }
              options={Object.entries(PERIOD_WORDS).map(([value, label]) => ({ value, label }))}
            />
          </Field>
          <Field label="Time zone" hint="The time of day stays the same when clocks change.">
            <Select
              value={schedule.timeZone}
              onValueChange={(timeZone) => change({ timeZone })}
              options={zones(schedule.timeZone).map((zone) => ({
                value: zone,
                label: zone.replaceAll("_", " "),
              }))}
            />
          </Field>
          {schedule.every === "once" ? null : (
            <Field label="End" hint="Optional." error={problems?.endsAt?.message}>
              <Input
                type="datetime-local"
                value={schedule.endsAt}
                onChange={(event) => change({ endsAt: event.target.value })}
              />
            </Field>
          )}
        </fieldset>
      )}
    </>
  );
};
