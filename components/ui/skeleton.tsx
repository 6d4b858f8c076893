import type { ReactNode } from "react";
import { cn } from "./cn";

export const Skeleton = ({ className }: { readonly className?: string }): ReactNode => (
  <span aria-hidden className={cn("block h-4 animate-pulse rounded-tag bg-sunken", className)} />
);

interface LoadingRowsProps {
  readonly rows?: number;
  /** The noun of the loading records, for screen readers: `balances`. */
  readonly what: string;
  /** On phones as tall as cards of three lines that have an address or a badge in each. */
  readonly cards?: boolean;
}

/** Stands where a table will be, as tall as its rows. */
export const LoadingRows = ({ rows = 4, what, cards = false }: LoadingRowsProps): ReactNode => (
  <div role="status" className={cn("divide-y", cards && "@container")}>
    <span className="sr-only">Loading {what} …</span>
    {Array.from({ length: rows }, (_, index) => (
      <div
        key={index}
        className={cn("flex h-9 items-center justify-between gap-8 px-4", cards && "@max-[40rem]:h-[6.375rem]")}
      >
        <Skeleton className="w-1/3" />
        <Skeleton className="w-1/5" />
      </div>
    ))}
  </div>
);
