"use client";

import { type ReactNode, useMemo } from "react";
import { Checkbox, Field } from "@/components/ui/field";
import { RadioCards } from "@/components/ui/radio-cards";
import { Select } from "@/components/ui/select";
import { type ColumnLook, columnNames, type LayoutOf, lookOf, unreadColumns } from "./layout";
import type { Table as Sheet } from "./table";

interface NotReadProps {
  readonly label: string;
  readonly parts: readonly { readonly name: string; readonly samples: string }[];
}

export const NotRead = ({ label, parts }: NotReadProps): ReactNode =>
  parts.length === 0 ? null : (
    <section aria-label={label} className="rounded-card border px-4 py-2 text-sm">
      <p className="font-medium text-fg-2">Not read</p>
      <ul>
        {parts.map(({ name, samples }) => (
          <li key={name} className="[overflow-wrap:anywhere]">
            {name}: <span className="text-fg-2">{samples}</span>
          </li>
        ))}
      </ul>
    </section>
  );

const NONE = "none";
/** The value of a select or radio group without a choice. */
const OPEN = "";
const SAMPLE_LENGTH = 42;

/** A layout that the person may change. */
export interface Questions<Column extends string> {
  readonly layout: LayoutOf<Column>;
  readonly setHeaded: (headed: boolean) => void;
  readonly setColumn: (wanted: Column, column: number | null) => void;
}

interface ColumnsProps<Column extends string> {
  readonly mapping: Questions<Column>;
  readonly table: Sheet;
  readonly columns: readonly Column[];
  /** The label of each column that a file can have, such as "Recipient". */
  readonly words: Readonly<Record<Column, string>>;
}

export const ColumnFields = <Column extends string>({
  mapping: { layout, setColumn, setHeaded },
  table,
  columns,
  words,
}: ColumnsProps<Column>): ReactNode => {
  const { mapping, headed, open } = layout;
  const names = useMemo(() => columnNames(table.rows, headed), [table, headed]);
  const options = [
    { value: NONE, label: "Not in the file" },
    ...names.map((label, column) => ({ value: String(column), label })),
  ];
  return (
    <div className="flex flex-col gap-3">
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-4">
        {columns.map((column) => (
          <Field key={column} label={words[column]}>
            <Select
              value={open[column] === undefined ? String(mapping[column] ?? NONE) : OPEN}
              placeholder="Choose below"
              onValueChange={(value) =>
                setColumn(column, value === NONE ? null : Number(value))
              }
              options={options}
            />
          </Field>
        ))}
      </div>
      <Checkbox
        label="The first row names the columns"
        checked={headed}
        onChange={(event) => setHeaded(event.target.checked)}
      />
    </div>
  );
};

const titleOf = ({ letter, heading }: ColumnLook): string =>
  heading === "" ? `Column ${letter}` : `${letter} · ${heading}`;

const samplesOf = ({ samples }: ColumnLook): string => {
  const shown = samples.map((text) =>
    text.length > SAMPLE_LENGTH ? `${text.slice(0, SAMPLE_LENGTH)}…` : text,
  );
  return shown.length === 0 ? "empty" : shown.join(" · ");
};

/** Lists the columns that are not read. */
export const UnreadColumns = ({
  table,
  layout,
}: {
  readonly table: Sheet;
  readonly layout: LayoutOf<string>;
}): ReactNode => {
  const unread = useMemo(() => unreadColumns(table.rows, layout), [table, layout]);
  return (
    <NotRead
      label="Columns that are not read"
      parts={unread.map((look) => ({ name: titleOf(look), samples: samplesOf(look) }))}
    />
  );
};

/**
 * Asks the person to choose when several columns fit one meaning, because a wrong column would
 * lead to wrong payments.
 */
export const OpenColumns = <Column extends string>({
  mapping: { layout, setColumn },
  table,
  columns,
  words,
}: ColumnsProps<Column>): ReactNode =>
  columns.map((column) => {
    const candidates = layout.open[column];
    if (candidates === undefined) return null;
    const name = words[column].toLowerCase();
    const looks = candidates.map((each) => lookOf(table.rows, layout.headed, each));
    return (
      <section
        key={column}
        aria-label={`Column of the ${name}`}
        className="flex flex-col gap-2"
      >
        <p className="font-medium">Which column is the {name}?</p>
        <RadioCards
          label={`Which column is the ${name}?`}
          value={OPEN}
          onValueChange={(value) => setColumn(column, value === NONE ? null : Number(value))}
          options={[
            ...looks.map((look) => ({
              value: String(look.column),
              label: titleOf(look),
              description: <span className="[overflow-wrap:anywhere]">{samplesOf(look)}</span>,
            })),
            { value: NONE, label: "None of them" },
          ]}
        />
      </section>
    );
  });
