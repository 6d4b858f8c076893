"use client";

import { CircleAlert, RotateCw, WifiOff } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { Button } from "./button";
import { buttonLooks } from "./button-looks";
import { cn } from "./cn";
import { CopyButton } from "./copy-button";
import { describeError } from "./describe-error";

interface ErrorStateProps {
  readonly error: unknown;
  /** Where the money is. The default fits pages that only read. */
  readonly money?: ReactNode;
  readonly onRetry?: () => void;
  /** A further way out, for instance a link. */
  readonly action?: ReactNode;
  /** Small, inside a form or a dialog. */
  readonly compact?: boolean;
}

const signInAgain = (): void => {
  const from = window.location.pathname + window.location.search;
  window.location.assign(`/sign-in?again=1&from=${encodeURIComponent(from)}`);
};

/** Shows the error, the place of the money, the next step and the request id. */
export const ErrorState = ({
  error,
  money = "No money was moved by this.",
  onRetry,
  action,
  compact = false,
}: ErrorStateProps): ReactNode => {
  const view = describeError(error);
  const signedOut = view.code === "unauthorized";
  // A detail that the message says already is not repeated.
  const details = view.details.filter(({ message }) => !view.message.includes(message));
  const isSaidAlready = typeof money === "string" && view.message.includes(money);
  const isRefused = view.code === "policy_violation";
  const Icon = view.offline ? WifiOff : CircleAlert;
  return (
    <div role="alert" className={cn("flex gap-3", compact ? "rounded-card bg-danger-tint px-3 py-2.5" : "px-4 py-6")}>
      <Icon className="mt-0.5 size-4 shrink-0 text-danger" aria-hidden />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-semibold">{view.title}</p>
        <p className="break-words">{view.message}</p>
        {details.length === 0 ? null : (
          <ul className="list-disc pl-5">
            {details.map((detail) => (
              <li key={detail.path + detail.message}>
                {detail.path === "" ? null : <code className="font-mono text-sm">{detail.path}: </code>}
                {detail.message}
              </li>
            ))}
          </ul>
        )}
        <p className="text-fg-2">
          {isSaidAlready ? null : money} {view.advice}
        </p>
        {view.requestId === null ? null : (
          <p className="flex flex-wrap items-center gap-1 text-sm text-fg-2">
            Request <code className="font-mono break-all">{view.requestId}</code>
            <CopyButton value={view.requestId} label="Copy request id" />
          </p>
        )}
        {onRetry === undefined && action === undefined && !signedOut && !isRefused ? null : (
          <div className="mt-1 flex flex-wrap gap-2">
            {signedOut ? (
              <Button size="sm" variant="primary" onClick={signInAgain}>
                Sign in again
              </Button>
            ) : null}
            {onRetry === undefined ? null : (
              <Button size="sm" onClick={onRetry}>
                <RotateCw aria-hidden /> Try again
              </Button>
            )}
            {view.evaluationId === null ? null : (
              <Link
                href={`/settings/policies/evaluations/${view.evaluationId}`}
                className={buttonLooks({ size: "sm" })}
              >
                See each rule
              </Link>
            )}
            {isRefused ? (
              <Link href="/settings/policies" className={buttonLooks({ size: "sm" })}>
                Open policies
              </Link>
            ) : null}
            {action}
          </div>
        )}
      </div>
    </div>
  );
};
