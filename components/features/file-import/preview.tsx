import type { ReactNode } from "react";
import { type Column, Table } from "@/components/ui/table";

const ROWS_SHOWN = 5;

/** A row of a file with its place in the file, from 0. */
export interface PreviewRow<Values> {
  readonly values: Values;
  readonly index: number;
}

interface PreviewProps<Values> {
  readonly columns: readonly Column<PreviewRow<Values>>[];
  readonly rows: readonly Values[];
}

/** The first rows of a file, so that a person sees how its columns were read. */
export const Preview = <Values,>({ columns, rows }: PreviewProps<Values>): ReactNode => (
  <section className="rounded-card border">
    <p className="border-b px-4 py-2 text-sm font-medium text-fg-2">
      The first rows, as they are read
    </p>
    <Table
      caption="Preview"
      columns={columns}
      rows={rows.slice(0, ROWS_SHOWN).map((values, index) => ({ values, index }))}
      rowKey={({ index }) => String(index)}
    />
  </section>
);
