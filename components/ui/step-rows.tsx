import type { ReactNode } from "react";
import { cn } from "./cn";
import { STEP_VIEWS, type StepState } from "./timeline";

export interface StepRow {
  readonly id: string;
  readonly title: string;
  readonly state: StepState;
  /** Confirmations, or why it failed. */
  readonly note: string | null;
  /** A hash. */
  readonly detail: ReactNode;
  /** At the right, a time. */
  readonly aside: ReactNode;
}

interface StepRowsProps {
  /** Accessible name of the list. */
  readonly label: string;
  readonly steps: readonly StepRow[];
}

/** Steps as rows of a statement: state, title, transaction, time. */
export const StepRows = ({ label, steps }: StepRowsProps): ReactNode => (
  <ol aria-label={label} className="divide-y">
    {steps.map((step) => {
      const { icon: Icon, text, word } = STEP_VIEWS[step.state];
      return (
        <li
          key={step.id}
          aria-current={step.state === "current" ? "step" : undefined}
          className="grid min-h-9 grid-cols-[auto_minmax(0,1fr)_auto] items-baseline gap-x-3 px-4 py-1.5"
        >
          <Icon className={cn("size-4 self-center", text)} aria-hidden />
          <span className="min-w-0">
            <span className={step.state === "todo" ? "text-fg-3" : undefined}>
              {step.title}
              <span className="sr-only">, {word}</span>
            </span>
            {step.note === null ? null : (
              <span className="num ml-2 text-sm whitespace-normal! text-fg-2">{step.note}</span>
            )}
            {step.detail === null ? null : <span className="ml-2 max-sm:ml-0 max-sm:block">{step.detail}</span>}
          </span>
          {/* As wide before the time is known, so that no row grows when it comes. */}
          <span className="min-w-16 text-right text-sm text-fg-3">{step.aside}</span>
        </li>
      );
    })}
  </ol>
);
