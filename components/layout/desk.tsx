import type { ReactNode } from "react";

interface DeskProps {
  readonly fields: ReactNode;
  readonly receipt: ReactNode;
}

/** A form with its receipt beside it; the receipt stays in view while the fields are scrolled. Below each other where there is no space. */
export const Desk = ({ fields, receipt }: DeskProps): ReactNode => (
  <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,7fr)_minmax(18rem,5fr)]">
    <div className="flex min-w-0 flex-col gap-4">{fields}</div>
    <div className="flex min-w-0 flex-col gap-4 lg:sticky lg:top-16">{receipt}</div>
  </div>
);
