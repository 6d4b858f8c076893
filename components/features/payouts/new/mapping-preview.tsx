import type { ReactNode } from "react";
import { Table, type Column } from "@/components/ui/table";
import type { DraftField, DraftValues } from "./draft-row";
import { FIELD_WORDS } from "./field-words";

const ROWS_SHOWN = 5;
const TEXT_SHOWN = 60;

const cellOf = (row: DraftValues, field: DraftField): ReactNode => {
  const text = row[field];
  if (text === "") return <span className="text-fg-3">–</span>;
  const shown = text.length > TEXT_SHOWN ? `${text.slice(0, TEXT_SHOWN)}…` : text;
  if (field === "recipient") return <code className="font-mono text-sm break-all">{shown}</code>;
  return <span className={field === "amount" ? "num font-medium" : "[overflow-wrap:anywhere]"}>{shown}</span>;
};

interface MappingPreviewProps {
  readonly rows: readonly DraftValues[];
  readonly fields: readonly DraftField[];
}

/** The first rows as they are read. */
export const MappingPreview = ({ rows, fields }: MappingPreviewProps): ReactNode => {
  const numbered = rows.slice(0, ROWS_SHOWN).map((row, index) => ({ row, index }));
  const columns = fields.map((field): Column<(typeof numbered)[number]> => ({
    id: field,
    header: FIELD_WORDS[field],
    cell: ({ row }) => cellOf(row, field),
    ...(field === "amount" ? { align: "right" } : {}),
    ...(field === "recipient" ? { phone: "title" } : {}),
  }));
  return (
    <section className="rounded-card border">
      <p className="border-b px-4 py-2 text-sm font-medium text-fg-2">The first rows, as they are read</p>
      <Table caption="Preview" columns={columns} rows={numbered} rowKey={({ index }) => String(index)} />
    </section>
  );
};
