"use client";

import { useMemo, useState, type ReactNode } from "react";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Checkbox, Field } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { guessSign, cellAmount, type DecimalSign } from "../import/amount-format";
import { columnNames, layoutOf, withColumn, type Layout } from "../import/columns";
import type { Table } from "../import/table";
import { toRows, type ImportedRow } from "../import/to-rows";
import type { DraftField, DraftValues } from "./draft-row";
import { counted, FIELD_WORDS } from "./field-words";
import { MappingPreview } from "./mapping-preview";
import { requestProblem } from "./request-size";

const NONE = "none";
interface MappingDialogProps {
  readonly name: string;
  readonly table: Table;
  /** Those that this kind of payout has. */
  readonly fields: readonly DraftField[];
  /** How many rows are there already. */
  readonly existing: number;
  readonly onClose: () => void;
  readonly onRows: (rows: readonly DraftValues[], replace: boolean) => void;
}

const toDrafts = (rows: readonly ImportedRow[], fields: readonly DraftField[]): readonly DraftValues[] =>
  rows.map((row) => ({
    ...row,
    ...(fields.includes("note") ? {} : { note: "" }),
    checked: true,
  }));

/** The choices that the person makes about a file, and the rows that result. */
const useMapping = ({ table, fields }: MappingDialogProps) => {
  const [layout, setLayout] = useState<Layout>(() => layoutOf(table.rows));
  const [chosenSign, setSign] = useState<DecimalSign | null>(null);
  const { amount } = layout.mapping;
  const guess = useMemo(
    () => guessSign(amount === null ? [] : table.rows.slice(layout.headed ? 1 : 0).map((row) => row[amount] ?? "")),
    [table, amount, layout.headed],
  );
  const sign = guess.sign ?? chosenSign;
  const rows = useMemo(() => toDrafts(toRows(table, layout, sign ?? "point"), fields), [table, layout, sign, fields]);
  const problem = useMemo(() => requestProblem(rows), [rows]);
  return { layout, setLayout, guess, sign, setSign, rows, problem };
};

/** Which column of a file is what, with a preview of how it is read. */
export const MappingDialog = (props: MappingDialogProps): ReactNode => {
  const { name, table, fields, existing, onClose, onRows } = props;
  const { layout, setLayout, guess, sign, setSign, rows, problem } = useMapping(props);
  const { mapping } = layout;
  const missing = mapping.recipient === null || mapping.amount === null;
  const blocked = missing || sign === null || problem !== null || rows.length === 0;
  const add = (replace: boolean): void => onRows(rows, replace);
  return (
    <Dialog
      open
      onOpenChange={(open) => (open ? undefined : onClose())}
      title="Match the columns"
      description={`${name}, ${counted(rows.length, "row")}`}
      size="xl"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {existing === 0 ? null : (
            <Button disabled={blocked} onClick={() => add(false)}>
              Add to the {counted(existing, "row")}
            </Button>
          )}
          <Button variant="primary" disabled={blocked} onClick={() => add(true)}>
            {existing === 0 ? `Use ${counted(rows.length, "row")}` : `Replace by ${counted(rows.length, "row")}`}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {table.notices.length === 0 ? null : (
          <Alert tone="warning" title="Check how the file was read">
            {table.notices.join(" ")}
          </Alert>
        )}
        {problem === null ? null : (
          <Alert tone="danger" title="This file cannot go in one payout">
            {problem}
          </Alert>
        )}
        <ColumnFields layout={layout} onLayout={setLayout} table={table} fields={fields} />
        {missing ? (
          <Alert tone="info" title="Choose the columns of the recipient and the amount">
            They were not recognised by their names.
          </Alert>
        ) : null}
        {guess.sign === null ? <SignQuestion examples={guess.examples} sign={sign} onSign={setSign} /> : null}
        <MappingPreview rows={rows} fields={fields} />
      </div>
    </Dialog>
  );
};

interface ColumnFieldsProps extends Pick<MappingDialogProps, "table" | "fields"> {
  readonly layout: Layout;
  readonly onLayout: (layout: Layout) => void;
}

const ColumnFields = ({ layout, onLayout, table, fields }: ColumnFieldsProps): ReactNode => {
  const { mapping, headed } = layout;
  const names = useMemo(() => columnNames(table.rows, headed), [table, headed]);
  const options = [
    { value: NONE, label: "Not in the file" },
    ...names.map((label, column) => ({ value: String(column), label })),
  ];
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-5">
        {fields.map((field) => (
          <Field key={field} label={FIELD_WORDS[field]}>
            <Select
              value={mapping[field] === null ? NONE : String(mapping[field])}
              onValueChange={(value) =>
                onLayout({ headed, mapping: withColumn(mapping, field, value === NONE ? null : Number(value)) })
              }
              options={options}
            />
          </Field>
        ))}
      </div>
      <Checkbox
        label="The first row names the columns"
        checked={headed}
        onChange={(event) => onLayout({ mapping, headed: event.target.checked })}
      />
    </div>
  );
};

interface SignQuestionProps {
  readonly examples: readonly string[];
  readonly sign: DecimalSign | null;
  readonly onSign: (sign: DecimalSign) => void;
}

/** Asked where `1,250` may be 1250 or 1.25: a guess could pay a thousand times too much. */
const SignQuestion = ({ examples, sign, onSign }: SignQuestionProps): ReactNode => {
  const read = (as: DecimalSign): string => examples.map((text) => `${text} is ${cellAmount(text, as)}`).join(", ");
  return (
    <section aria-label="Decimal sign" className="flex flex-col gap-2">
      <p className="font-medium">How are the amounts written?</p>
      <RadioCards
        label="How the amounts are written"
        inRow
        value={sign ?? ""}
        onValueChange={(value) => onSign(value === "comma" ? "comma" : "point")}
        options={[
          { value: "point", label: "Decimal point", description: read("point") },
          { value: "comma", label: "Decimal comma", description: read("comma") },
        ]}
      />
    </section>
  );
};
