"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { toScaled } from "@/components/features/swap/decimal";
import { Alert } from "@/components/ui/alert";
import { Amount } from "@/components/ui/amount";
import { Button } from "@/components/ui/button";
import { ErrorState } from "@/components/ui/error-state";
import { Field, Input } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { Fact, Facts, Sheet } from "@/components/ui/sheet";
import { PAYOUT_MODES, PAYOUT_ROWS_MAX } from "@/lib/contracts/payouts";
import { formatAmount } from "@/lib/core/money";
import type { PayoutForm } from "./use-payout-form";

const REFERENCE_MAX = 140;
const MODES = [
  { value: "atomic", label: "All or nothing", description: "One row that cannot be paid, and none is." },
  {
    value: "independent",
    label: "Each for itself",
    description: "What can be paid is paid; the rest can be tried again.",
  },
] as const;

interface SummarySheetProps {
  readonly form: PayoutForm;
  readonly onReview: () => void;
}

/** How it is paid, what it comes to, and the way on. */
export const SummarySheet = ({ form, onReview }: SummarySheetProps): ReactNode => {
  const { source, options, filled, checking } = form;
  return (
    <Sheet title="How">
      <div className="flex flex-col gap-4">
        <RadioCards
          label="Mode"
          value={options.mode}
          onValueChange={(mode) => form.setOptions({ mode: PAYOUT_MODES.find((one) => one === mode) ?? "atomic" })}
          options={MODES}
        />
        <Field label="Reference of the payout" hint="Optional; each row may have its own.">
          <Input
            value={options.reference}
            maxLength={REFERENCE_MAX}
            onChange={(event) => form.setOptions({ reference: event.target.value })}
          />
        </Field>
        {source === undefined ? null : <Totals form={form} source={source} />}
        {form.error === null ? null : <ErrorState compact error={form.error} money="Nothing was paid." />}
        <Button
          variant="primary"
          size="lg"
          loading={checking}
          disabled={source === undefined || filled === 0 || filled > PAYOUT_ROWS_MAX}
          onClick={onReview}
        >
          Review
        </Button>
      </div>
    </Sheet>
  );
};

interface TotalsProps {
  readonly form: PayoutForm;
  readonly source: NonNullable<PayoutForm["source"]>;
}

const Totals = ({ form, source }: TotalsProps): ReactNode => {
  const available = toScaled(source.balance.available, source.decimals) ?? 0n;
  const left = available - form.totalBase;
  const amount = (base: bigint): ReactNode => (
    <Amount value={formatAmount(base, source.decimals)} unit={source.currency} />
  );
  return (
    <>
      <Facts className="border-y">
        <Fact label="Available">{amount(available)}</Fact>
        <Fact label="Total" strong>
          {amount(form.totalBase)}
        </Fact>
        {left < 0n ? null : <Fact label="Left after it">{amount(left)}</Fact>}
      </Facts>
      {left < 0n ? (
        <Alert
          tone="warning"
          title={<>{amount(-left)} are missing</>}
          actions={
            <Link href={`/accounts/${source.id}`} className="link">
              Fund the account
            </Link>
          }
        >
          {form.options.mode === "atomic"
            ? "All or nothing: none of it would be paid."
            : "The rows for which nothing is left would fail."}
        </Alert>
      ) : null}
    </>
  );
};
