import type { ReactNode } from "react";
import { WarningList } from "@/components/features/warnings/warnings";
import type { Warning } from "@/lib/contracts/warnings";
import { countText } from "@/lib/core/amount-text";

const WARNINGS_SHOWN = 5;

/** The row of a warning's field, counted from 1: `transfers.3.address` is in row 4. */
const rowText = (path: string | null): string => {
  const index = Number(path?.split(".")[1]);
  return Number.isInteger(index) ? `Row ${countText(index + 1)}: ` : "";
};

interface RowWarningsProps {
  readonly warnings: readonly Warning[];
  readonly children?: ReactNode;
}

export const RowWarnings = ({ warnings, children }: RowWarningsProps): ReactNode => (
  <WarningList
    title="Look at these rows again"
    warnings={warnings}
    max={WARNINGS_SHOWN}
    place={rowText}
  >
    {children}
  </WarningList>
);
