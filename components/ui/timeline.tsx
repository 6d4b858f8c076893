import { Ban, Check, Circle, CircleAlert, LoaderCircle, Undo2, X } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "./cn";

export type StepState =
  | "todo"
  | "current"
  | "done"
  | "failed"
  | "refunded"
  | "attention"
  | "ended";

export interface TimelineStep {
  readonly id: string;
  readonly title: ReactNode;
  readonly state: StepState;
  /** Facts about the step, such as hash, confirmations and time. */
  readonly detail?: ReactNode;
  readonly aside?: ReactNode;
}

export const STEP_VIEWS = {
  todo: { icon: Circle, text: "text-fg-3", looks: "border-border text-fg-3", word: "to do" },
  current: {
    icon: LoaderCircle,
    text: "text-info",
    looks: "border-info bg-info-tint text-info",
    word: "in progress",
  },
  done: {
    icon: Check,
    text: "text-success",
    looks: "border-success bg-success-tint text-success",
    word: "done",
  },
  failed: {
    icon: X,
    text: "text-danger",
    looks: "border-danger bg-danger-tint text-danger",
    word: "failed",
  },
  refunded: {
    icon: Undo2,
    text: "text-warning",
    looks: "border-warning bg-warning-tint text-warning",
    word: "refunded",
  },
  ended: { icon: Ban, text: "text-fg-3", looks: "border-border text-fg-3", word: "ended" },
  attention: {
    icon: CircleAlert,
    text: "text-warning",
    looks: "border-warning bg-warning-tint text-warning",
    word: "needs attention",
  },
} as const;

interface TimelineProps {
  /** Accessible name of the list. */
  readonly label: string;
  readonly steps: readonly TimelineStep[];
}

/** A vertical list of steps. Each state has an icon, and a word for screen readers. */
export const Timeline = ({ label, steps }: TimelineProps): ReactNode => (
  <ol aria-label={label} className="flex flex-col">
    {steps.map((step, index) => {
      const { icon: Icon, looks, word } = STEP_VIEWS[step.state];
      return (
        <li
          key={step.id}
          aria-current={step.state === "current" ? "step" : undefined}
          className="flex gap-3"
        >
          <span className="flex flex-col items-center">
            <span
              className={cn(
                "flex size-6 shrink-0 items-center justify-center rounded-full border",
                looks,
              )}
            >
              <Icon
                className={cn("size-3.5", step.state === "current" && "animate-spin")}
                aria-hidden
              />
            </span>
            {index === steps.length - 1 ? null : (
              <span aria-hidden className="w-px flex-1 bg-border" />
            )}
          </span>
          <div className="min-w-0 flex-1 pt-0.5 pb-4">
            <div className="flex flex-wrap items-baseline justify-between gap-x-4">
              <span className={step.state === "todo" ? "text-fg-2" : "font-medium"}>
                {step.title}
                <span className="sr-only">, {word}</span>
              </span>
              {step.aside === undefined ? null : (
                <span className="text-sm text-fg-3">{step.aside}</span>
              )}
            </div>
            {step.detail === undefined ? null : (
              <div className="text-sm text-fg-2">{step.detail}</div>
            )}
          </div>
        </li>
      );
    })}
  </ol>
);

interface StepsProps {
  readonly label: string;
  readonly steps: readonly string[];
  readonly current: number;
}

/** The steps of a flow with the current one marked: Quote → Code → Review → Done. */
export const Steps = ({ label, steps, current }: StepsProps): ReactNode => (
  <ol aria-label={label} className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
    {steps.map((step, index) => (
      <li
        key={step}
        aria-current={index === current ? "step" : undefined}
        className={cn(
          "flex items-center gap-2",
          index === current ? "font-semibold text-fg" : "text-fg-3",
        )}
      >
        {index === 0 ? null : <span aria-hidden className="h-px w-4 bg-control" />}
        <span className="flex items-center gap-1">
          {index < current ? (
            <Check className="size-3.5 text-success" aria-hidden />
          ) : (
            <span className="num">{index + 1}.</span>
          )}
          {step}
          {index < current ? <span className="sr-only">, done</span> : null}
        </span>
      </li>
    ))}
  </ol>
);
