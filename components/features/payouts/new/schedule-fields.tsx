"use client";

import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { Checkbox, Field, Input } from "@/components/ui/field";
import { Select } from "@/components/ui/select";
import { SCHEDULE_PERIODS } from "@/lib/contracts/payout-schedules";
import { localOf, ownTimeZone, PERIOD_WORDS, type ScheduleValues } from "./schedule-values";
import type { OptionsForm } from "./use-payout-options";

const TOMORROW_MS = 24 * 60 * 60 * 1_000;

const startValues = (): ScheduleValues => {
  const timeZone = ownTimeZone();
  const day = localOf(new Date(Date.now() + TOMORROW_MS), timeZone).slice(0, "2026-05-01".length);
  return { startsAt: `${day}T09:00`, every: "month", timeZone, endsAt: "" };
};

/** UTC and the person's own zone first. */
const zones = (own: string): readonly string[] => [...new Set([own, "UTC", ...Intl.supportedValuesOf("timeZone")])];

/** Whether the payout runs later, or again and again. Start and end are judged together, so the schedule is one field of the form. */
export const ScheduleFields = ({ form }: { readonly form: OptionsForm }): ReactNode => {
  const { field, formState } = useController({ control: form.control, name: "schedule" });
  const schedule = field.value;
  const problems = formState.errors.schedule;
  // A check of this field alone would leave the errors inside its object out.
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
              onValueChange={(value) => change({ every: SCHEDULE_PERIODS.find((one) => one === value) ?? "once" })}
              options={Object.entries(PERIOD_WORDS).map(([value, label]) => ({ value, label }))}
            />
          </Field>
          <Field label="Time zone" hint="The time of day stays the same when clocks change.">
            <Select
              value={schedule.timeZone}
              onValueChange={(timeZone) => change({ timeZone })}
              options={zones(schedule.timeZone).map((zone) => ({ value: zone, label: zone.replaceAll("_", " ") }))}
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
