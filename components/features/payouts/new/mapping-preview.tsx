import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import type { DraftField, DraftValues } from "./draft-row";
import { FIELD_WORDS } from "./field-words";

const ROWS_SHOWN = 5;

interface MappingPreviewProps {
  readonly rows: readonly DraftValues[];
  readonly fields: readonly DraftField[];
}

/** The first rows as they are read. */
export const MappingPreview = ({ rows, fields }: MappingPreviewProps): ReactNode => (
  <section aria-label="Preview" className="rounded-card border">
    <p className="border-b px-3 py-2 text-sm font-medium text-fg-2">The first rows, as they are read</p>
    <ol className="divide-y">
      {rows.slice(0, ROWS_SHOWN).map((row, index) => (
        <li key={index} className="flex flex-wrap gap-x-4 gap-y-0.5 px-3 py-1.5">
          <span className="num w-5 text-fg-3">{index + 1}</span>
          {fields.map((field) => (
            <span
              key={field}
              className={cn(
                "min-w-0",
                field === "recipient" && "font-mono text-sm break-all",
                field === "amount" && "num font-medium",
                field !== "recipient" && field !== "amount" && "truncate text-fg-2",
              )}
            >
              <span className="sr-only">{FIELD_WORDS[field]}: </span>
              {row[field] === "" ? <span className="text-fg-3">–</span> : row[field].slice(0, 80)}
            </span>
          ))}
        </li>
      ))}
    </ol>
  </section>
);
