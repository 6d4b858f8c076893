"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { useController } from "react-hook-form";
import { toScaled } from "@/components/features/swap/decimal";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/field";
import { Form, FormError, TextField } from "@/components/ui/form";
import { HeldAmount } from "@/components/ui/held-amount";
import { TokenMark } from "@/components/ui/marks";
import { RadioCards } from "@/components/ui/radio-cards";
import { Fact, Facts, Card } from "@/components/ui/card";
import { formatAmount } from "@/lib/core/money";
import { countText } from "@/lib/core/amount-text";
import type { DraftTotal } from "./draft-row";
import { counted } from "./field-words";
import { ScheduleFields } from "./schedule-fields";
import type { NewPayout } from "./use-new-payout";
import { REFERENCE_MAX, type OptionsForm } from "./use-payout-options";

const MODES = [
  { value: "atomic", label: "All or nothing", description: "If one row fails, nothing is paid." },
  { value: "independent", label: "Independent", description: "Pay what can be paid; failed rows can be retried." },
] as const;

interface SummaryCardProps {
  readonly form: NewPayout;
  readonly onReview: () => void;
}

/** The payout's totals beside the available balances, and the button that goes on. */
export const SummaryCard = ({ form, onReview }: SummaryCardProps): ReactNode => {
  const { target, filled, checking, problems, duplicates, options } = form;
  const ready = target.rules !== null && filled.length > 0 && form.sizeProblem === null;
  return (
    <Card title="Total" className="lg:sticky lg:top-16">
      <Form form={form.optionsForm} error={form.error} onSubmit={onReview} className="flex flex-col gap-4">
        <Facts className="-my-2">
          <Fact label="Rows">{countText(filled.length)}</Fact>
          {problems.size === 0 ? null : (
            <Fact label="With errors">
              <span className="font-medium text-danger">{countText(problems.size)}</span>
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
            <TotalLines key={total.id} total={total} available={target.available(total.id)} form={form} />
          ))}
        </Facts>
        <Options form={form} />
        <FormError money="Nothing was paid." />
        <Button type="submit" variant="primary" size="lg" loading={checking} disabled={!ready}>
          Check and review
        </Button>
        {ready ? null : (
          <p className="text-sm text-fg-3">
            {target.rules === null
              ? "Choose the account that pays."
              : filled.length === 0
                ? "Add at least one row."
                : "These rows cannot go in one payout."}
          </p>
        )}
      </Form>
    </Card>
  );
};

interface TotalLinesProps {
  readonly total: DraftTotal;
  readonly available: string | null;
  readonly form: NewPayout;
}

const TotalLines = ({ total, available, form }: TotalLinesProps): ReactNode => {
  const { symbol, decimals, base, rows } = total;
  const left = available === null ? null : (toScaled(available, decimals) ?? 0n) - base;
  const amount = (value: bigint): ReactNode => <Amount value={formatAmount(value, decimals)} unit={symbol} />;
  return (
    <>
      <Fact
        strong
        label={
          <span className="inline-flex items-center gap-2">
            <TokenMark symbol={symbol} /> {form.totals.length > 1 ? counted(rows, "row") : "Total"}
          </span>
        }
      >
        {amount(base)}
      </Fact>
      <Fact label="Available">
        {available === null ? (
          <span className="text-fg-3" title="The balance is not known now; the service checks it.">
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

const Options = ({ form: { target, optionsForm } }: { readonly form: NewPayout }): ReactNode => {
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
  return <RadioCards label="If a row fails" value={value} onValueChange={onChange} options={MODES} />;
};

const FundBox = ({ form }: { readonly form: OptionsForm }): ReactNode => {
  const { value, onChange, ...field } = useController({ control: form.control, name: "fund" }).field;
  return (
    <Checkbox
      {...field}
      label="Bring missing money from other chains first"
      checked={value}
      onChange={(event) => onChange(event.target.checked)}
    />
  );
};
