"use client";

import { X } from "lucide-react";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Alert } from "./alert";
import { Button } from "./button";
import { describeError } from "./describe-error";
import type { Column } from "./table";

/** The selected rows of a list. */
export interface Selection {
  /** Keys of the selected rows, in the order of the list. */
  readonly selected: readonly string[];
  /** Whether cards on phones show their checkboxes. */
  readonly isSelecting: boolean;
  readonly setSelecting: (isSelecting: boolean) => void;
  /**
   * Selects or unselects a row. With `isRange`, changes all rows between this row and the row that
   * was changed last.
   */
  readonly toggle: (key: string, isRange?: boolean) => void;
  readonly set: (keys: readonly string[]) => void;
  readonly clear: () => void;
}

interface SelectionInput {
  /** Keys of the rows that can be selected, in the order of the list. */
  readonly keys: readonly string[];
  /** Describes the filters of the list. When this text changes, nothing stays selected. */
  readonly filters?: string;
  /**
   * The selected keys and their setter, when they are stored outside this component, such as in
   * the page's address.
   */
  readonly stored?: readonly [keys: readonly string[], set: (keys: readonly string[]) => void];
}

/**
 * The keys of the rows from `one` to `other`, both included, for a click with Shift. Only `other`
 * when `one` is no longer listed.
 */
const between = (keys: readonly string[], one: string, other: string): readonly string[] => {
  const [from, to] = [keys.indexOf(one), keys.indexOf(other)];
  return from === -1 ? [other] : keys.slice(Math.min(from, to), Math.max(from, to) + 1);
};

export const useSelection = ({ keys, filters = "", stored }: SelectionInput): Selection => {
  const own = useState<readonly string[]>([]);
  const [chosen, setChosen] = stored ?? own;
  const [isSelecting, setSelecting] = useState(false);
  const last = useRef<string | null>(null);
  const shownFilters = useRef(filters);
  useEffect(() => {
    if (shownFilters.current === filters) return;
    shownFilters.current = filters;
    last.current = null;
    setChosen([]);
  }, [filters, setChosen]);
  const selected = keys.filter((key) => chosen.includes(key));
  return {
    selected,
    isSelecting,
    setSelecting: (next) => {
      setSelecting(next);
      if (!next) setChosen([]);
    },
    toggle: (key, isRange = false) => {
      if (!keys.includes(key)) return;
      const isAdded = !selected.includes(key);
      const changed =
        isRange && last.current !== null ? between(keys, last.current, key) : [key];
      last.current = key;
      const others = selected.filter((one) => !changed.includes(one));
      setChosen(isAdded ? [...others, ...changed] : others);
    },
    set: setChosen,
    clear: () => {
      setChosen([]);
      setSelecting(false);
    },
  };
};

interface SelectBoxProps {
  /** The name of the row. */
  readonly label: string;
  readonly checked: boolean;
  /** `isRange`: the person held Shift. */
  readonly onToggle: (isRange: boolean) => void;
}

export const SelectBox = ({ label, checked, onToggle }: SelectBoxProps): ReactNode => {
  const isRange = useRef(false);
  return (
    <label
      className="relative z-1 flex min-h-6 min-w-6 items-center justify-center touch-target"
      // A click with Shift would also select the text between both rows.
      onMouseDown={(event) => {
        if (event.shiftKey) event.preventDefault();
      }}
    >
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-accent"
        aria-label={`Select ${label}`}
        checked={checked}
        onClick={(event) => {
          isRange.current = event.shiftKey;
        }}
        onChange={() => {
          onToggle(isRange.current);
          isRange.current = false;
        }}
      />
    </label>
  );
};

interface SelectColumnInput<Row> {
  readonly selection: Selection;
  readonly keyOf: (row: Row) => string;
  readonly labelOf: (row: Row) => string;
}

/** The first column of a table whose rows can be selected. It is 32 px wide. */
export const selectColumn = <Row,>({
  selection,
  keyOf,
  labelOf,
}: SelectColumnInput<Row>): Column<Row> => ({
  id: "select",
  header: <span className="sr-only">Select</span>,
  bare: true,
  phone: selection.isSelecting ? "select" : "hidden",
  className: "@min-[40rem]:w-8 @min-[40rem]:px-1!",
  cell: (row) => (
    <SelectBox
      label={labelOf(row)}
      checked={selection.selected.includes(keyOf(row))}
      onToggle={(isRange) => selection.toggle(keyOf(row), isRange)}
    />
  ),
});

/** Shows or hides the checkboxes of cards on phones. */
export const SelectButton = ({ selection }: { readonly selection: Selection }): ReactNode => (
  <Button
    className="md:hidden"
    aria-pressed={selection.isSelecting}
    onClick={() => selection.setSelecting(!selection.isSelecting)}
  >
    {selection.isSelecting ? "Stop selecting" : "Select"}
  </Button>
);

interface SelectionBarProps {
  readonly selection: Selection;
  /** The actions for the selected rows. */
  readonly children: ReactNode;
  /** The result of the last action. */
  readonly notice?: ReactNode;
}

/** The bar at the bottom of a list while rows are selected. */
export const SelectionBar = ({ selection, children, notice }: SelectionBarProps): ReactNode => {
  const { selected, clear } = selection;
  return selected.length === 0 ? null : (
    <section
      aria-label="Selected rows"
      className="sticky bottom-3 z-10 flex flex-col gap-2 rounded-card border bg-surface px-3 py-2 shadow-float"
    >
      {notice}
      <div className="flex flex-wrap items-center gap-2">
        <p role="status" className="mr-auto font-medium whitespace-nowrap">
          <span className="num">{selected.length}</span> selected
        </p>
        {children}
        <Button variant="ghost" onClick={clear}>
          <X aria-hidden /> Clear
        </Button>
      </div>
    </section>
  );
};

/** A row that an action did not change, and the reason. */
interface BulkFailure {
  readonly key: string;
  readonly message: string;
}

export interface BulkAct {
  readonly failures: readonly BulkFailure[];
  readonly busy: boolean;
  /**
   * Calls `work` for every selected row, one after another. Rows that failed stay selected.
   * @returns the number of rows for which `work` succeeded
   */
  readonly run: (work: (key: string) => Promise<unknown>) => Promise<number>;
  /** Removes the notice about the last action. */
  readonly forget: () => void;
}

export const useBulkAct = ({ selected, set }: Selection): BulkAct => {
  const [failures, setFailures] = useState<readonly BulkFailure[]>([]);
  const [busy, setBusy] = useState(false);
  return {
    failures,
    busy,
    forget: () => setFailures([]),
    run: async (work) => {
      setBusy(true);
      setFailures([]);
      const failed: BulkFailure[] = [];
      for (const key of selected) {
        try {
          await work(key);
        } catch (error) {
          failed.push({ key, message: describeError(error).message });
        }
      }
      setFailures(failed);
      set(failed.map(({ key }) => key));
      setBusy(false);
      return selected.length - failed.length;
    },
  };
};

interface BulkFailuresProps {
  readonly act: BulkAct;
  /** The name of a row. */
  readonly labelOf: (key: string) => string;
}

/** Names the rows that the last action did not change, and the reasons. */
export const BulkFailures = ({
  act: { failures, forget },
  labelOf,
}: BulkFailuresProps): ReactNode =>
  failures.length === 0 ? null : (
    <Alert
      tone="danger"
      title={
        failures.length === 1
          ? "1 of them failed, and is still selected"
          : `${String(failures.length)} of them failed, and are still selected`
      }
      actions={
        <Button size="sm" onClick={forget}>
          Close
        </Button>
      }
    >
      <ul className="list-disc pl-4">
        {failures.map(({ key, message }) => (
          <li key={key} className="wrap-anywhere">
            {labelOf(key)}: {message}
          </li>
        ))}
      </ul>
    </Alert>
  );
