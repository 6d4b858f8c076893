import { CircleAlert, Trash2, TriangleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { counted } from "@/components/features/payouts/new/amount-rules";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Checkbox } from "@/components/ui/field";

interface RowErrorsProps {
  /** The number of rows with errors. */
  readonly count: number;
  /** Whether the list shows only the rows with errors. */
  readonly onlyErrors: boolean;
  readonly onOnlyErrors: (only: boolean) => void;
  /** Removes the rows with errors. */
  readonly onRemove: () => void;
}

/** Says how many rows of a list have errors; shows only these rows, or removes them. */
export const RowErrors = ({
  count,
  onlyErrors,
  onOnlyErrors,
  onRemove,
}: RowErrorsProps): ReactNode => {
  if (count > 0)
    return (
      <Alert
        tone="danger"
        title={counted(count, "row has errors", "rows have errors")}
        actions={
          <Button size="sm" onClick={onRemove}>
            <Trash2 aria-hidden /> Remove the rows with errors
          </Button>
        }
      >
        <Checkbox
          label="Show only errors"
          checked={onlyErrors}
          onChange={(event) => onOnlyErrors(event.target.checked)}
        />
      </Alert>
    );
  return onlyErrors ? (
    <Alert
      tone="success"
      title="All errors are fixed"
      actions={
        <Button size="sm" onClick={() => onOnlyErrors(false)}>
          Show all rows
        </Button>
      }
    />
  ) : null;
};

interface RowNoteProps {
  readonly tone: "danger" | "warning";
  readonly icon?: LucideIcon;
  /** Id by which a field names the note as its description. */
  readonly id?: string;
  readonly children: ReactNode;
}

const TONES = {
  danger: { looks: "text-danger", icon: CircleAlert },
  warning: { looks: "text-warning", icon: TriangleAlert },
} as const;

/** A line below a row of a list, about one of its cells or about the row. */
export const RowNote = ({ tone, icon, id, children }: RowNoteProps): ReactNode => {
  const { looks, icon: usual } = TONES[tone];
  const Icon = icon ?? usual;
  return (
    <span id={id} className={cn("flex items-start gap-1.5", looks)}>
      <Icon className="mt-0.5 size-3.5 shrink-0" aria-hidden />
      <span className="wrap-anywhere">{children}</span>
    </span>
  );
};
