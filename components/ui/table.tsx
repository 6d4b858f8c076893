"use client";

import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { Button } from "./button";
import { cn } from "./cn";

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "left" | "right";
  /**
   * Position in the card of a narrow table: `title` is the heading, `aside` is at the right of the
   * heading, `select` is before the heading, `hidden` is left out. Other cells follow, two on a
   * line.
   */
  readonly phone?: "select" | "title" | "aside" | "line" | "hidden";
  /**
   * Columns are hidden when the table is too narrow: `least` first, then `lowest`, `low` and
   * `medium`; columns without a priority stay.
   */
  readonly priority?: "least" | "lowest" | "low" | "medium";
  /** Shows no label in a card; for times, routes and badges. */
  readonly bare?: true;
  /**
   * Whether the column takes the width that the other columns leave. Its texts must then be
   * shortened. Default: true for the heading of the card.
   */
  readonly grow?: boolean;
  readonly className?: string;
}

interface TableProps<Row> {
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Key of the row that is active by keyboard; see `useListKeys`. */
  readonly activeKey?: string | null;
}

// The roles are explicit, because some browsers drop them from a table that CSS lays out as cards.

/**
 * Classes that hide a column's header, by the priority of the column. The names are complete,
 * because Tailwind finds only complete names. They depend on the table's width, because the
 * navigation takes part of the window.
 */
const DROPS = {
  least: "@max-[76rem]:hidden",
  lowest: "@max-[72rem]:hidden",
  low: "@max-[60rem]:hidden",
  medium: "@max-[48rem]:hidden",
} as const;
/**
 * Classes that hide a column's cells, by the priority of the column. They do not apply in cards,
 * where `phone` decides which cells are hidden.
 */
const CELL_DROPS = {
  least: "@min-[40rem]:@max-[76rem]:hidden",
  lowest: "@min-[40rem]:@max-[72rem]:hidden",
  low: "@min-[40rem]:@max-[60rem]:hidden",
  medium: "@min-[40rem]:@max-[48rem]:hidden",
} as const;
/**
 * Classes of a column that takes the free width and whose texts are shortened. The cells of other
 * columns are as wide as their texts, which stay on one line.
 */
const GROW = "@min-[40rem]:w-full @min-[40rem]:max-w-0 @min-[40rem]:min-w-36";
const PHONE_LOOKS = {
  select: "@max-[40rem]:order-first",
  title:
    "@max-[40rem]:order-1 @max-[40rem]:flex-1 @max-[40rem]:text-left @max-[40rem]:font-medium",
  aside: "@max-[40rem]:order-2 @max-[40rem]:ml-auto",
  line: "@max-[40rem]:order-4",
  hidden: "@max-[40rem]:hidden",
} as const;

/**
 * A table with rows of 36 px. A narrow table, as on phones, becomes a list of cards: title and
 * aside on the first line, the other cells below. A `RowLink` in one cell makes the whole row a
 * link.
 */
export const Table = <Row,>({
  caption,
  columns,
  rows,
  rowKey,
  activeKey,
}: TableProps<Row>): ReactNode => (
  <div className="@container">
    <table
      role="table"
      aria-label={caption}
      className="w-full border-collapse @max-[40rem]:block"
    >
      <thead role="rowgroup" className="@max-[40rem]:sr-only">
        <tr role="row" className="border-b">
          {columns.map((column) => (
            <th
              key={column.id}
              role="columnheader"
              scope="col"
              className={cn(
                "h-8 px-4 text-left text-sm font-medium whitespace-nowrap text-fg-3 not-first:pl-2 not-last:pr-2",
                column.align === "right" && "text-right",
                column.priority !== undefined && DROPS[column.priority],
              )}
            >
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup" className="divide-y @max-[40rem]:block">
        {rows.map((row) => (
          <TableRow
            key={rowKey(row)}
            row={row}
            columns={columns}
            active={activeKey === rowKey(row)}
          />
        ))}
      </tbody>
    </table>
  </div>
);

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly active: boolean;
}

/** Breaks the line of a card after the title and the aside. */
const LINE_END =
  "@max-[40rem]:after:order-3 @max-[40rem]:after:basis-full @max-[40rem]:after:content-['']";

const growsIn = <Row,>(columns: readonly Column<Row>[], column: Column<Row>): boolean =>
  column.grow ??
  (column.phone === "title" &&
    columns.every(({ grow, phone }) => grow !== true || phone === "title"));

const TableRow = <Row,>({ row, columns, active }: TableRowProps<Row>): ReactNode => (
  <tr
    role="row"
    data-active={active || undefined}
    className={cn(
      "relative data-active:bg-accent-tint data-active:[&_.text-fg-3]:text-fg-2 has-[.row-link]:hover:bg-sunken @max-[40rem]:flex @max-[40rem]:flex-wrap @max-[40rem]:items-center @max-[40rem]:gap-x-4 @max-[40rem]:gap-y-0.5 @max-[40rem]:px-4 @max-[40rem]:py-2.5",
      LINE_END,
    )}
  >
    {columns.map((column) => (
      <td
        key={column.id}
        role="cell"
        className={cn(
          "h-9 px-4 not-first:pl-2 not-last:pr-2 @max-[40rem]:h-auto @max-[40rem]:min-w-0 @max-[40rem]:p-0! @min-[40rem]:whitespace-nowrap",
          column.align === "right" && "text-right",
          growsIn(columns, column) && GROW,
          PHONE_LOOKS[column.phone ?? "line"],
          column.priority !== undefined && CELL_DROPS[column.priority],
          column.className,
        )}
      >
        {column.phone === "title" || column.phone === "aside" || column.bare === true ? null : (
          <span aria-hidden className="mr-1.5 hidden text-sm text-fg-3 @max-[40rem]:inline">
            {column.header}
          </span>
        )}
        {column.cell(row)}
      </td>
    ))}
  </tr>
);

/** The name of a row: one line in a table, and up to two in a card. */
const NAME_LOOKS =
  "min-w-0 font-medium @max-[40rem]:line-clamp-2 @max-[40rem]:wrap-anywhere @min-[40rem]:block @min-[40rem]:truncate";

interface RowNameProps {
  readonly className?: string;
  readonly children: string;
}

/** The name of a row that has no page of its own. */
export const RowName = ({ className, children }: RowNameProps): ReactNode => (
  <span className={cn(NAME_LOOKS, className)} title={children}>
    {children}
  </span>
);

interface RowLinkProps {
  readonly href: string;
  /** The whole value, where the text is a short form of it. */
  readonly title?: string;
  readonly className?: string;
  readonly children: string;
}

/**
 * The link of a table row. It covers the whole row; other controls in the row need `relative z-1`
 * to stay above it.
 */
export const RowLink = ({ href, title, className, children }: RowLinkProps): ReactNode => (
  <Link
    href={href}
    title={title ?? children}
    className={cn("row-link after:absolute after:inset-0", NAME_LOOKS, className)}
  >
    {children}
  </Link>
);

interface PagerProps {
  /** Cursor of the shown page; null for the newest page. */
  readonly cursor: string | null;
  /** Cursor of the next page; null or undefined when there is none. */
  readonly nextCursor: string | null | undefined;
  readonly onCursor: (cursor: string | null) => void;
}

/**
 * The foot of a list that is read page by page, newest first. Renders nothing for a single page.
 */
export const Pager = ({ cursor, nextCursor, onCursor }: PagerProps): ReactNode =>
  nextCursor == null && cursor === null ? null : (
    <div className="flex justify-end gap-2 border-t px-4 py-2">
      <Button size="sm" disabled={cursor === null} onClick={() => onCursor(null)}>
        Newest
      </Button>
      <Button
        size="sm"
        disabled={nextCursor == null}
        onClick={() => onCursor(nextCursor ?? null)}
      >
        Older
      </Button>
    </div>
  );

interface ListKeys {
  readonly keys: readonly string[];
  /** Called on Enter with the active row. */
  readonly onOpen: (key: string) => void;
  /** Called on x with the active row. */
  readonly onSelect?: (key: string) => void;
}

const isCheckbox = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && target.type === "checkbox";

const typesText = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    (["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) && !isCheckbox(target)) ||
    target.closest("[role=dialog]") !== null);

/** Blurs the focused button, so that Enter opens the active row. */
const letGoOfFocus = (): void => {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
};

/**
 * Keyboard navigation of a list: j and k move, Enter opens, x selects, Escape clears. Returns the
 * `activeKey` for `Table`.
 */
export const useListKeys = ({ keys, onOpen, onSelect }: ListKeys): string | null => {
  const [active, setActive] = useState<string | null>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || typesText(event.target)) return;
      if (event.key === "j" || event.key === "k") letGoOfFocus();
      const index = active === null ? -1 : keys.indexOf(active);
      if (event.key === "j") setActive(keys[Math.min(index + 1, keys.length - 1)] ?? null);
      else if (event.key === "k") setActive(keys[Math.max(index - 1, 0)] ?? null);
      else if (event.key === "x" && active !== null) onSelect?.(active);
      else if (event.key === "Escape") setActive(null);
      else if (event.key === "Enter" && active !== null && event.target === document.body)
        onOpen(active);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [keys, active, onOpen, onSelect]);
  return active !== null && keys.includes(active) ? active : null;
};
