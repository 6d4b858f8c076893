import type { ReactNode } from "react";
import { TokenOnChainMark } from "@/components/ui/marks";

interface MoneyRowProps {
  /** The token and chain whose mark begins the row; null while no token is chosen. */
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
  <div className="grid grid-cols-[auto_minmax(0,1fr)_auto_auto] items-center px-4 py-3">
    <span className="row-span-2 mr-3">
      {props.mark === null ? (
        <span
          aria-hidden
          className="block size-8 rounded-full border border-dashed border-control"
        />
      ) : (
        <TokenOnChainMark {...props.mark} className="block size-8" />
      )}
    </span>
    <div className="col-start-2 row-start-1 flex min-w-0 pr-3 max-sm:row-span-2">
      {props.chooser}
    </div>
    <div className="col-start-3 row-start-1 text-right">{props.amount}</div>
    <div className="col-start-4 row-span-2 row-start-1 pl-3 empty:hidden">{props.end}</div>
    <div className="flex min-w-0 flex-wrap items-center gap-x-1.5 pr-3 text-sm text-fg-2 max-sm:col-span-full max-sm:row-start-3 max-sm:pt-1 sm:col-start-2 sm:row-start-2">
      {props.below}
    </div>
    <div className="col-start-3 row-start-2 flex min-h-6 items-center justify-end gap-x-3 text-sm text-fg-2">
      {props.worth}
    </div>
    {props.children === undefined ? null : (
      <div className="col-span-full flex flex-col gap-1 text-sm text-fg-3 empty:hidden sm:col-start-2">
        {props.children}
      </div>
    )}
  </div>
);
