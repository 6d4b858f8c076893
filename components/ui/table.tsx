import type { ReactNode } from "react";
import { cn } from "./cn";

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "left" | "right";
  /** As a card: `title` heads it, `aside` stands at the right of the title, `hidden` is left out; of the rest two stand in a line. */
  readonly phone?: "title" | "aside" | "line" | "hidden";
  /** Columns leave a table that has not enough space: `least` first, then `lowest`, `low` and `medium`; those without stay. */
  readonly priority?: "least" | "lowest" | "low" | "medium";
  /** On a card its value needs no label: times, ways, badges. */
  readonly bare?: true;
  readonly className?: string;
}

interface TableProps<Row> {
  /** Accessible name of the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Marks the row that the keyboard is on; see `useListKeys`. */
  readonly activeKey?: string | null;
  readonly className?: string;
}

// Roles are spelled out, because a table that CSS lays out as cards loses them in some browsers.

/** Written whole, so that the style sheet has them. The widths are those of the table, because the navigation takes some of the window. */
const DROPS = {
  least: "@max-[76rem]:hidden",
  lowest: "@max-[72rem]:hidden",
  low: "@max-[60rem]:hidden",
  medium: "@max-[48rem]:hidden",
} as const;
/** The same between the width of cards and that at which the column fits; on cards `phone` decides. */
const CELL_DROPS = {
  least: "@min-[40rem]:@max-[76rem]:hidden",
  lowest: "@min-[40rem]:@max-[72rem]:hidden",
  low: "@min-[40rem]:@max-[60rem]:hidden",
  medium: "@min-[40rem]:@max-[48rem]:hidden",
} as const;
const PHONE_LOOKS = {
  title: "@max-[40rem]:order-1 @max-[40rem]:flex-1 @max-[40rem]:text-left @max-[40rem]:font-medium",
  aside: "@max-[40rem]:order-2 @max-[40rem]:ml-auto",
  line: "@max-[40rem]:order-4",
  hidden: "@max-[40rem]:hidden",
} as const;

/**
 * Rows of 36 px; where the table is narrow, as on phones, cards of at most three lines: title and aside, then two cells to a line. To make
 * a whole row a link, give one cell a `RowLink`.
 */
export const Table = <Row,>({ caption, columns, rows, rowKey, activeKey, className }: TableProps<Row>): ReactNode => (
  <div className="@container">
    <table role="table" aria-label={caption} className={cn("w-full border-collapse @max-[40rem]:block", className)}>
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
          <TableRow key={rowKey(row)} row={row} columns={columns} active={activeKey === rowKey(row)} />
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

/** Ends the first line of a card, after the title and its neighbours. */
const LINE_END = "@max-[40rem]:after:order-3 @max-[40rem]:after:basis-full @max-[40rem]:after:content-['']";

const TableRow = <Row,>({ row, columns, active }: TableRowProps<Row>): ReactNode => (
  <tr
    role="row"
    data-active={active || undefined}
    className={cn(
      "relative data-active:bg-accent-tint has-[.row-link]:hover:bg-sunken @max-[40rem]:flex @max-[40rem]:flex-wrap @max-[40rem]:items-center @max-[40rem]:gap-x-4 @max-[40rem]:gap-y-0.5 @max-[40rem]:px-4 @max-[40rem]:py-2.5",
      LINE_END,
    )}
  >
    {columns.map((column) => (
      <td
        key={column.id}
        role="cell"
        className={cn(
          "h-9 px-4 not-first:pl-2 not-last:pr-2 @max-[40rem]:h-auto @max-[40rem]:min-w-0 @max-[40rem]:p-0!",
          column.align === "right" && "text-right",
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
