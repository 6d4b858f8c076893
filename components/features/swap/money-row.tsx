import type { ReactNode } from "react";
import { TokenOnChainMark } from "@/components/ui/marks";

interface MoneyRowProps {
  /** Null while no token is chosen. */
  readonly mark: { readonly symbol: string; readonly chainName: string } | null;
  readonly chooser: ReactNode;
  readonly amount: ReactNode;
  /** The button that removes the row. */
  readonly end?: ReactNode;
  /** Muted second line: the wallet at the left, the worth at the right. */
  readonly below: ReactNode;
  readonly worth: ReactNode;
  /** Notes and errors, below the two lines. */
  readonly children?: ReactNode;
}

/** One amount of a token on a chain: the token at the left, the amount at the right. */
export const MoneyRow = (props: MoneyRowProps): ReactNode => (
  <div className="grid grid-cols-[auto_minmax(0,1fr)_auto_auto] items-center gap-x-3 px-4 py-3">
    <span className="sm:row-span-2">
      {props.mark === null ? (
        <span
          aria-hidden
          className="block size-8 rounded-full border border-dashed border-control"
        />
      ) : (
        <TokenOnChainMark {...props.mark} className="block size-8" />
      )}
    </span>
    <div className="flex min-w-0">{props.chooser}</div>
    <div className="text-right">{props.amount}</div>
    <span className="sm:row-span-2">{props.end}</span>
    <div className="col-span-full flex flex-wrap items-baseline justify-between gap-x-4 text-sm text-fg-2 sm:col-span-2 sm:col-start-2">
      {props.below}
      <span className="ml-auto flex min-h-6 items-baseline justify-end gap-x-3">
        {props.worth}
      </span>
    </div>
    {props.children === undefined ? null : (
      <div className="col-span-full flex flex-col gap-1 text-sm text-fg-3 empty:hidden sm:col-start-2">
        {props.children}
      </div>
    )}
  </div>
);
