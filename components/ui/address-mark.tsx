import type { ReactNode } from "react";
import { addressFigure, FIGURE_SIDE } from "./address-figure";
import { cn } from "./cn";

interface AddressMarkProps {
  /** An address, or the id of an account or a person. */
  readonly value: string;
  readonly className?: string;
}

/** A figure by which an eye tells addresses apart; a name or the address always stands beside it. */
export const AddressMark = ({ value, className }: AddressMarkProps): ReactNode => {
  const { ground, main, spot, mainPath, spotPath } = addressFigure(value);
  return (
    <svg
      viewBox={`0 0 ${String(FIGURE_SIDE)} ${String(FIGURE_SIDE)}`}
      className={cn("relative -top-px inline-block size-4 shrink-0 rounded-tag align-middle", className)}
      shapeRendering="crispEdges"
      aria-hidden
    >
      <path d={`M0 0h${String(FIGURE_SIDE)}v${String(FIGURE_SIDE)}H0z`} fill={ground} />
      <path d={mainPath} fill={main} />
      <path d={spotPath} fill={spot} />
    </svg>
  );
};
