import type { ReactNode } from "react";
import { groupedAmount } from "@/lib/core/read-amount";

interface ReadAsProps {
  readonly value: string;
  /** The decimal string that was read from the text; null when the text is no amount. */
  readonly read: string | null;
  readonly symbol: string;
}

/**
 * Shows how a typed amount was read when its format is not the API's, so that a person sees whether
 * "1,234" means 1.234 or 1234.
 */
export const ReadAs = ({ value, read, symbol }: ReadAsProps): ReactNode =>
  read === null || value.trim() === read ? null : (
    <span>
      Read as <span className="num text-fg">{groupedAmount(read)}</span> {symbol}
    </span>
  );
