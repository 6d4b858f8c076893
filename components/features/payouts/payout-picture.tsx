"use client";

import { useTheme } from "next-themes";
import {
  type MouseEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from "react";
import { shortId, useAccountNames } from "@/components/features/global-accounts/account";
import { useNames } from "@/components/features/names/names";
import { TxHash } from "@/components/ui/address";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { LoadingRows } from "@/components/ui/states";
import { useLocale, useTitleOptions } from "@/components/ui/use-locale";
import { amountText, countText, measureText } from "@/lib/core/amount-text";
import { gridOf, positionAt } from "./grid-layout";
import { countsOf, type Payout, ROW_STATES, settledOf } from "./payout";
import { leftOf, paceOf, type Sample, timeLeftText, withSample } from "./progress";
import { ROW_VIEWS, type RowStateView } from "./use-payout-rows";
import type { PayoutRow } from "./rows-file";

interface PayoutPictureProps {
  readonly payout: Payout;
  /** Undefined while the rows are loading. */
  readonly rows: readonly PayoutRow[] | undefined;
  readonly onChoose: (index: number) => void;
}

/** One cell for each row, coloured by state, with counts, pace and time left. */
export const PayoutPicture = ({ payout, rows, onChoose }: PayoutPictureProps): ReactNode => {
  const [batch, setBatch] = useState<number | null>(null);
  const { sentence } = payout.outcome;
  return (
    <Card title="Progress">
      <p className="num pb-3 text-lg font-medium whitespace-normal" role="status">
        {sentence}
      </p>
      {rows === undefined ? (
        <LoadingRows what="the rows" rows={4} />
      ) : (
        <CellGrid rows={rows} batch={batch} label={sentence} onChoose={onChoose} />
      )}
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-1 pt-1">
        <Legend payout={payout} />
        <PaceText payout={payout} />
      </div>
      {payout.kind === "wallets" && payout.batches.total > 1 && rows !== undefined ? (
        <BatchScrubber
          rows={rows}
          total={payout.batches.total}
          batch={batch}
          onBatch={setBatch}
        />
      ) : null}
    </Card>
  );
};

const Legend = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const counts = countsOf(payout);
  return (
    <ul aria-label="Rows by state" className="flex flex-wrap gap-x-4 gap-y-1">
      {ROW_STATES.filter((state) => counts[state] > 0).map((state) => (
        <li
          key={state}
          className={cn(
            "flex items-center gap-1.5",
            state === "failed" && "text-danger",
            state === "doubt" && "text-warning",
          )}
        >
          <span aria-hidden className={cn("size-2.5 rounded-tag", ROW_VIEWS[state].cell)} />
          {ROW_VIEWS[state].word}{" "}
          <span className="num font-medium">{countText(counts[state])}</span>
        </li>
      ))}
    </ul>
  );
};

/** Numbers of settled rows, sampled while the page is open. */
const useSamples = (payout: Payout): readonly Sample[] => {
  const settled = settledOf(countsOf(payout));
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => {
    setSamples((before) => withSample(before, { atMs: performance.now(), settled }));
  }, [settled, payout]);
  return samples;
};

const PaceText = ({ payout }: { readonly payout: Payout }): ReactNode => {
  const samples = useSamples(payout);
  const locale = useLocale();
  if (payout.status !== "processing") return null;
  const pace = paceOf(samples, leftOf(payout));
  const parts =
    pace === null
      ? ["measuring the pace"]
      : [`${measureText(pace.rowsPerSecond, locale)} rows/s`, timeLeftText(pace.secondsLeft)];
  if (payout.kind === "wallets") {
    const { settled, total } = payout.batches;
    parts.unshift(`transaction ${String(Math.min(settled + 1, total))} of ${String(total)}`);
  }
  return <span className="num text-fg-2">{parts.join(", ")}</span>;
};

interface BatchScrubberProps {
  readonly rows: readonly PayoutRow[];
  readonly total: number;
  /** Index of the transaction; null for all transactions. */
  readonly batch: number | null;
  readonly onBatch: (batch: number | null) => void;
}

/**
 * Selects one of the payout's transactions. The picture dims the rows of the other transactions.
 */
const BatchScrubber = ({ rows, total, batch, onBatch }: BatchScrubberProps): ReactNode => {
  const id = useId();
  const members = useMemo(() => rows.filter((row) => row.batch === batch), [rows, batch]);
  const hash = members.find(({ transaction }) => transaction !== "")?.transaction;
  const text =
    batch === null
      ? `All ${String(total)} transactions`
      : `Transaction ${String(batch + 1)} of ${String(total)}: ${countText(members.length)} rows`;
  return (
    <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t pt-2 mt-2">
      <label htmlFor={id} className="text-sm text-fg-2">
        Transaction
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={total}
        value={batch === null ? 0 : batch + 1}
        aria-valuetext={text}
        onChange={(event) =>
          onBatch(event.target.value === "0" ? null : Number(event.target.value) - 1)
        }
        className="h-6 min-w-32 flex-1 accent-accent"
      />
      <span className="num text-sm text-fg-2">{text}</span>
      {hash === undefined || batch === null ? null : <TxHash value={hash} />}
    </div>
  );
};

/** More cells than this are drawn on a canvas, because DOM elements would be slow. */
const DOM_CELLS_MAX = 2_000;

interface CellGridProps extends Pick<CellsProps, "rows" | "batch" | "onChoose"> {
  /** Accessible name: a sentence with the content of the picture. */
  readonly label: string;
}

/**
 * One cell for each row, in the order of the rows, coloured by state. Hovering shows the row's
 * name; a click opens the row.
 */
const CellGrid = ({ rows, batch, label, onChoose }: CellGridProps): ReactNode => {
  const [hovered, setHovered] = useState<number | null>(null);
  const row = hovered === null ? undefined : rows[hovered];
  const textOf = useRowText();
  const Cells = rows.length > DOM_CELLS_MAX ? CellCanvas : DomCells;
  return (
    <div>
      <div role="img" aria-label={label} onMouseLeave={() => setHovered(null)}>
        <Cells rows={rows} batch={batch} onHover={setHovered} onChoose={onChoose} />
      </div>
      <p aria-hidden className="num h-5 truncate pt-1 text-sm text-fg-3">
        {row === undefined ? "" : textOf(row)}
      </p>
    </div>
  );
};

const useRowText = (): ((row: PayoutRow) => string) => {
  const { addressName } = useNames();
  const nameOf = useAccountNames();
  const { hidden, locale } = useTitleOptions();
  const recipientName = (id: string): string =>
    id.startsWith("0x") ? addressName(id) : (nameOf(id) ?? shortId(id));
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

const DIMMED = 0.25;

const useWidth = (): readonly [React.RefObject<HTMLCanvasElement | null>, number] => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const parent = canvas.current?.parentElement;
    if (parent == null) return;
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    observer.observe(parent);
    return () => observer.disconnect();
  }, []);
  return [canvas, width];
};

const draw = (
  element: HTMLCanvasElement,
  width: number,
  { rows, batch }: Pick<CellsProps, "rows" | "batch">,
): void => {
  const context = element.getContext("2d");
  if (context === null) return;
  const scale = window.devicePixelRatio;
  const { columns, pitch, size, height } = gridOf(rows.length, width);
  element.width = width * scale;
  element.height = height * scale;
  context.scale(scale, scale);
  const style = getComputedStyle(element);
  const paint = (color: string): string => style.getPropertyValue(color.slice(4, -1)).trim();
  const paints = new Map(
    Object.entries<RowStateView>(ROW_VIEWS).map(([state, { color, edge }]) => [
      state,
      { fill: paint(color), edge: edge === undefined ? null : paint(edge) },
    ]),
  );
  rows.forEach((row, at) => {
    context.globalAlpha = batch !== null && row.batch !== batch ? DIMMED : 1;
    const { fill, edge } = paints.get(row.state) ?? { fill: "", edge: null };
    const x = (at % columns) * pitch;
    const y = Math.floor(at / columns) * pitch;
    context.fillStyle = fill;
    context.fillRect(x, y, size, size);
    if (edge === null) return;
    context.strokeStyle = edge;
    context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  });
};

const CellCanvas = ({ rows, batch, onHover, onChoose }: CellsProps): ReactNode => {
  const [canvas, width] = useWidth();
  const { resolvedTheme } = useTheme();
  const grid = gridOf(rows.length, width);
  useEffect(() => {
    // Waits for the next frame, because the theme sets the page's colours after the effects of its
    // components.
    const frame = requestAnimationFrame(() => {
      if (canvas.current !== null && width > 0) draw(canvas.current, width, { rows, batch });
    });
    return () => cancelAnimationFrame(frame);
  }, [canvas, rows, batch, width, resolvedTheme]);
  const at = ({ nativeEvent: { offsetX, offsetY } }: MouseEvent): number | null =>
    positionAt(grid, rows.length, offsetX, offsetY);
  return (
    <canvas
      ref={canvas}
      aria-hidden
      className="block w-full"
      style={{ height: grid.height }}
      onMouseMove={(event) => onHover(at(event))}
      onClick={(event) => {
        const row = rows[at(event) ?? -1];
        if (row !== undefined) onChoose(row.index);
      }}
    />
  );
};

interface CellsProps {
  readonly rows: readonly PayoutRow[];
  /** The transaction whose cells are highlighted; null for all. */
  readonly batch: number | null;
  readonly onHover: (position: number | null) => void;
  readonly onChoose: (index: number) => void;
}
