"use client";

import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef, type ReactNode } from "react";
import { cn } from "./cn";

const OVERSCAN = 8;

export interface VirtualColumn {
  readonly id: string;
  readonly header: ReactNode;
  readonly align?: "left" | "right";
  /** Adds space before a column that follows right-aligned numbers. */
  readonly spaced?: boolean;
  /** Class of the header; cells have their own classes. */
  readonly className?: string;
}

interface VirtualTableProps {
  readonly caption: string;
  readonly columns: readonly VirtualColumn[];
  /** Tailwind class for the grid's columns on tablets and wider; phones show cards. */
  readonly template: string;
  readonly count: number;
  readonly keyOf: (index: number) => string | number;
  /** Estimated height of a row in pixels; the real one is measured. */
  readonly rowHeight: number;
  /** The cells of a row, each with `role="cell"`. */
  readonly children: (index: number) => ReactNode;
}

/** A table that renders only the visible rows, so that 10,000 rows scroll smoothly. */
export const VirtualTable = ({
  caption,
  columns,
  template,
  count,
  keyOf,
  rowHeight,
  children,
}: VirtualTableProps): ReactNode => {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    overscan: OVERSCAN,
  });
  return (
    <div
      ref={scroller}
      role="table"
      aria-label={caption}
      aria-rowcount={count + 1}
      tabIndex={0}
      className="@container max-h-[min(32rem,70dvh)] overflow-y-auto"
    >
      <div role="rowgroup" className="sticky top-0 z-2 border-b bg-surface max-md:sr-only">
        <div
          role="row"
          aria-rowindex={1}
          className={cn("grid h-8 items-center gap-x-3 px-4", template)}
        >
          {columns.map((column) => (
            <span
              key={column.id}
              role="columnheader"
              className={cn(
                "text-sm font-medium whitespace-nowrap text-fg-3",
                column.align === "right" && "text-right",
                column.spaced === true && "pl-4",
                column.className,
              )}
            >
              {column.header}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={virtualizer.measureElement}
            role="row"
            aria-rowindex={index + 2}
            data-index={index}
            className={cn(
              "absolute inset-x-0 top-0 grid gap-x-3 border-b px-4 max-md:gap-y-1 max-md:py-3 md:items-center",
              template,
            )}
            style={{ transform: `translateY(${String(start)}px)` }}
          >
            {children(index)}
          </div>
        ))}
      </div>
    </div>
  );
};
