import type { ReactNode } from "react";
import { cn } from "./cn";

export const Skeleton = ({ className }: { readonly className?: string }): ReactNode => (
  <span aria-hidden className={cn("block h-4 animate-pulse rounded-tag bg-sunken", className)} />
);

interface LoadingRowsProps {
  readonly rows?: number;
  /** The noun of the loading records, for screen readers: `balances`. */
  readonly what: string;
}

/** Stands where a table will be, as tall as its rows. */
export const LoadingRows = ({ rows = 4, what }: LoadingRowsProps): ReactNode => (
  <div role="status" className="divide-y">
    <span className="sr-only">Loading {what} …</span>
    {Array.from({ length: rows }, (_, index) => (
      <div key={index} className="flex h-9 items-center justify-between gap-8 px-4">
        <Skeleton className="w-1/3" />
        <Skeleton className="w-1/5" />
      </div>
    ))}
  </div>
);
