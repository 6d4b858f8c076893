import type { ReactNode } from "react";
import { cn } from "./cn";

export interface Column<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly cell: (row: Row) => ReactNode;
  readonly align?: "left" | "right";
  /** On phones: `title` heads the card, `hidden` is left out; the rest are lines of label and value. */
  readonly phone?: "title" | "line" | "hidden";
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

/**
 * Rows of 36 px; cards on phones. To make a whole row a link, give one cell a link with `className="row-link"` looks:
 * use `RowLink`.
 */
export const Table = <Row,>({ caption, columns, rows, rowKey, activeKey, className }: TableProps<Row>): ReactNode => (
  <table role="table" aria-label={caption} className={cn("w-full border-collapse max-md:block", className)}>
    <thead role="rowgroup" className="max-md:sr-only">
      <tr role="row" className="border-b">
        {columns.map((column) => (
          <th
            key={column.id}
            role="columnheader"
            scope="col"
            className={cn(
              "h-8 px-4 text-left text-sm font-medium whitespace-nowrap text-fg-3 not-first:pl-2 not-last:pr-2",
              column.align === "right" && "text-right",
            )}
          >
            {column.header}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup" className="divide-y max-md:block">
      {rows.map((row) => (
        <TableRow key={rowKey(row)} row={row} columns={columns} active={activeKey === rowKey(row)} />
      ))}
    </tbody>
  </table>
);

interface TableRowProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
  readonly active: boolean;
}

const TableRow = <Row,>({ row, columns, active }: TableRowProps<Row>): ReactNode => (
  <tr
    role="row"
    data-active={active || undefined}
    className="relative data-active:bg-accent-tint has-[.row-link]:hover:bg-sunken max-md:flex max-md:flex-col max-md:gap-1 max-md:px-4 max-md:py-3"
  >
    {columns.map((column) => (
      <td
        key={column.id}
        role="cell"
        className={cn(
          "h-9 px-4 not-first:pl-2 not-last:pr-2 max-md:h-auto max-md:p-0!",
          column.align === "right" && "text-right",
          column.phone === "title"
            ? "max-md:order-first max-md:text-left max-md:font-medium"
            : column.phone === "hidden"
              ? "max-md:hidden"
              : "max-md:flex max-md:min-h-6 max-md:items-center max-md:justify-between max-md:gap-4",
          column.className,
        )}
      >
        {column.phone === "title" ? null : (
          <span aria-hidden className="text-sm text-fg-3 md:hidden">
            {column.header}
          </span>
        )}
        {column.cell(row)}
      </td>
    ))}
  </tr>
);
