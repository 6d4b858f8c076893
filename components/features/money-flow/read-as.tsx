import type { ReactNode } from "react";
import { groupedAmount } from "@/lib/core/read-amount";

interface ReadAsProps {
  /** As typed. */
  readonly value: string;
  /** The plain decimal string that was read; null where the text is no amount. */
  readonly read: string | null;
  readonly symbol: string;
}

/** Says how a text was read that is not the plain number itself, so that "1,234" surprises nobody. */
export const ReadAs = ({ value, read, symbol }: ReadAsProps): ReactNode =>
  read === null || value.trim() === read ? null : (
    <span>
      Read as <span className="num text-fg">{groupedAmount(read)}</span> {symbol}
    </span>
  );
