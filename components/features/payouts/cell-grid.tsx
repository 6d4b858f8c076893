"use client";

import { useState, type ReactNode } from "react";
import { accountName, shortId } from "@/components/features/global-accounts/account";
import { useKnownAccounts } from "@/components/features/global-accounts/use-accounts";
import { useNames } from "@/components/features/names/use-names";
import { cn } from "@/components/ui/cn";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { amountText, countText } from "@/lib/core/amount-text";
import { CellCanvas } from "./cell-canvas";
import type { CellsProps } from "./cells-props";
import type { PayoutRow } from "./rows-file";
import { ROW_VIEWS } from "./row-views";

/** More cells than this are drawn on a canvas. */
const DOM_CELLS_MAX = 2_000;

interface CellGridProps {
  readonly rows: readonly PayoutRow[];
  /** Only the cells of this transaction stand out; null: all. */
  readonly batch: number | null;
  /** The sentence that says the same as the picture. */
  readonly label: string;
  readonly onChoose: (index: number) => void;
}

/** One cell for each row, in the order of the rows, coloured by state. Hovering shows the row's name; a click opens the row. */
export const CellGrid = ({ rows, batch, label, onChoose }: CellGridProps): ReactNode => {
  const [hovered, setHovered] = useState<number | null>(null);
  const row = hovered === null ? undefined : rows[hovered];
  const textOf = useRowText();
  return (
    <div>
      <div role="img" aria-label={label} onMouseLeave={() => setHovered(null)}>
        {rows.length > DOM_CELLS_MAX ? (
          <CellCanvas rows={rows} batch={batch} onHover={setHovered} onChoose={onChoose} />
        ) : (
          <DomCells rows={rows} batch={batch} onHover={setHovered} onChoose={onChoose} />
        )}
      </div>
      <p aria-hidden className="num h-5 truncate pt-1 text-sm text-fg-3">
        {row === undefined ? "" : textOf(row)}
      </p>
    </div>
  );
};

/** A row in words: its number, its state, how much to whom. */
const useRowText = (): ((row: PayoutRow) => string) => {
  const { addressName } = useNames();
  const accounts = useKnownAccounts();
  const { hidden, locale } = useTitleOptions();
  const recipientName = (id: string): string => {
    if (id.startsWith("0x")) return addressName(id);
    const account = accounts.find((one) => one.id === id);
    return account === undefined ? shortId(id) : accountName(account);
  };
  return ({ index, state, amount, unit, recipient }) => {
    const sum = hidden ? unit : `${amountText(amount, { symbol: unit, locale }).text} ${unit}`;
    return `Row ${countText(index + 1, locale)}: ${ROW_VIEWS[state].word}, ${sum} to ${recipientName(recipient)}`;
  };
};

const indexOf = (target: EventTarget): number | null => {
  const text = target instanceof HTMLElement ? target.dataset.at : undefined;
  return text === undefined ? null : Number(text);
};

const DomCells = ({ rows, batch, onHover, onChoose }: CellsProps): ReactNode => (
  <div
    aria-hidden
    className={cn(
      "grid gap-0.5",
      rows.length > 400
        ? "grid-cols-[repeat(auto-fill,minmax(10px,1fr))]"
        : "grid-cols-[repeat(auto-fill,minmax(14px,1fr))]",
    )}
    onMouseOver={(event) => onHover(indexOf(event.target))}
    onClick={(event) => {
      const row = rows[indexOf(event.target) ?? -1];
      if (row !== undefined) onChoose(row.index);
    }}
  >
    {rows.map((row, at) => (
      <span
        key={row.index}
        data-at={at}
        className={cn(
          "h-2.5 rounded-tag transition-colors duration-150",
          ROW_VIEWS[row.state].cell,
          batch !== null && row.batch !== batch && "opacity-25",
        )}
      />
    ))}
  </div>
);
