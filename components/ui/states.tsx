"use client";

import { CircleAlert, type LucideIcon, RotateCw, WifiOff } from "lucide-react";
import Link from "next/link";
import type { ComponentProps, ReactNode } from "react";
import { Alert } from "./alert";
import { Button, CopyButton } from "./button";
import { buttonLooks } from "./button-looks";
import { Card } from "./card";
import { cn } from "./cn";
import { describeError } from "./describe-error";

/** The parts of a query's result that decide how its content is shown. */
export interface QueryState<Data> {
  readonly data: Data | undefined;
  readonly error: unknown;
  readonly isPending: boolean;
  readonly refetch: () => unknown;
}

/**
 * Combines the queries that a page needs. `data` is computed from their answers, and undefined
 * until all are loaded.
 */
export const joinQueries = <Data,>(
  queries: readonly QueryState<unknown>[],
  data: Data | undefined,
): QueryState<Data> => ({
  data,
  isPending: data === undefined && queries.some(({ isPending }) => isPending),
  error: queries.find(({ error }) => error !== null)?.error ?? null,
  refetch: () => {
    for (const query of queries) void query.refetch();
  },
});

interface QueryContentProps<Data> {
  readonly query: QueryState<Data>;
  /** The noun of the loading records, for screen readers: `balances`. */
  readonly what: string;
  /** Number of placeholder rows while loading. */
  readonly rows?: number;
  readonly cards?: boolean;
  /** Replaces the placeholder rows; in a `QueryPanel` it replaces the card. */
  readonly loading?: ReactNode;
  /** Says where the money is while the content cannot be read. */
  readonly money?: ReactNode;
  /** Shows a small error, for forms and dialogs. */
  readonly compact?: boolean;
  /** Shown instead of an empty list. */
  readonly empty?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

const isEmptyList = (data: unknown): boolean =>
  typeof data === "object" &&
  data !== null &&
  "data" in data &&
  Array.isArray(data.data) &&
  data.data.length === 0;

export const QueryContent = <Data,>(props: QueryContentProps<Data>): ReactNode => {
  const { query, what, rows, cards, loading, money, compact, empty, children } = props;
  if (query.isPending) return loading ?? <LoadingRows what={what} rows={rows} cards={cards} />;
  if (query.data === undefined)
    return (
      <ErrorState
        compact={compact}
        error={query.error}
        money={money}
        onRetry={() => void query.refetch()}
      />
    );
  if (empty !== undefined && isEmptyList(query.data)) return empty;
  return children(query.data);
};

type QueryCardProps<Data> = QueryContentProps<Data> &
  Omit<ComponentProps<typeof Card>, "children">;

/** A card with the content of a query, without padding unless `flush` is false. */
export const QueryCard = <Data,>({
  id,
  title,
  description,
  actions,
  flush = true,
  fill,
  className,
  ...content
}: QueryCardProps<Data>): ReactNode => (
  <Card
    id={id}
    title={title}
    description={description}
    actions={actions}
    flush={flush}
    fill={fill}
    className={className}
  >
    <QueryContent {...content} />
  </Card>
);

/** Cards with the content of a query. Until the content is loaded, one card shows the state. */
export const QueryPanel = <Data,>(props: QueryContentProps<Data>): ReactNode => {
  const { query, loading, empty, children } = props;
  if (query.isPending && loading !== undefined) return loading;
  if (query.data === undefined || (empty !== undefined && isEmptyList(query.data)))
    return <QueryCard {...props} />;
  return children(query.data);
};

interface StaleNoticeProps {
  /** Says that the content could not be refreshed. */
  readonly title: string;
  readonly money?: ReactNode;
}

export const StaleNotice = ({ title, money }: StaleNoticeProps): ReactNode => (
  <Alert tone="warning" title={title}>
    You see the last known one. The page tries again automatically. {money}
  </Alert>
);

interface DetailPageProps<Data> extends QueryContentProps<Data> {
  /** Shown even while the record is loading. */
  readonly header: ReactNode;
  /** Title of the notice that the record could not be refreshed. */
  readonly stale: string;
}

export const DetailPage = <Data,>(props: DetailPageProps<Data>): ReactNode => {
  const { header, stale, query, money, children } = props;
  return (
    <>
      {header}
      <QueryPanel {...props} rows={props.rows ?? 6}>
        {(data) => (
          <div className="flex flex-col gap-4">
            {query.error === null ? null : <StaleNotice title={stale} money={money} />}
            {children(data)}
          </div>
        )}
      </QueryPanel>
    </>
  );
};

interface ErrorStateProps {
  readonly error: unknown;
  /** Says where the money is. The default is for pages that only read. */
  readonly money?: ReactNode;
  readonly onRetry?: () => void;
  readonly action?: ReactNode;
  /** Smaller, for use inside a form or a dialog. */
  readonly compact?: boolean;
}

const signInAgain = (): void => {
  const from = window.location.pathname + window.location.search;
  window.location.assign(`/sign-in?again=1&from=${encodeURIComponent(from)}`);
};

/** Shows the error, where the money is, the next step and the request id. */
export const ErrorState = ({
  error,
  money = "No money was moved by this.",
  onRetry,
  action,
  compact = false,
}: ErrorStateProps): ReactNode => {
  const view = describeError(error);
  const signedOut = view.code === "unauthorized";
  // Omits details that the message already contains.
  const details = view.details.filter(({ message }) => !view.message.includes(message));
  const isSaidAlready = typeof money === "string" && view.message.includes(money);
  const isRefused = view.code === "policy_violation";
  const Icon = view.offline ? WifiOff : CircleAlert;
  return (
    <div
      role="alert"
      className={cn(
        "flex gap-3",
        compact ? "rounded-card bg-danger-tint px-3 py-2.5" : "px-4 py-6",
      )}
    >
      <Icon className="mt-0.5 size-4 shrink-0 text-danger" aria-hidden />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-semibold">{view.title}</p>
        <p className="break-words">{view.message}</p>
        {details.length === 0 ? null : (
          <ul className="list-disc pl-5">
            {details.map((detail) => (
              <li key={detail.path + detail.message}>
                {detail.path === "" ? null : (
                  <code className="font-mono text-sm">{detail.path}: </code>
                )}
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

/** The error of the last try inside a form or dialog; renders nothing without one. */
export const ActionError = ({
  error,
  money,
}: Pick<ErrorStateProps, "error" | "money">): ReactNode =>
  error == null ? null : <ErrorState compact error={error} money={money} />;

interface EmptyStateProps {
  readonly icon?: LucideIcon;
  readonly title: string;
  /** The reason why the list or page is empty, and how to fill it. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export const EmptyState = ({
  icon: Icon,
  title,
  children,
  action,
}: EmptyStateProps): ReactNode => (
  <div className="flex flex-col items-center gap-2 px-4 py-8 text-center">
    {Icon === undefined ? null : <Icon className="size-6 text-fg-3" aria-hidden />}
    <p className="font-medium">{title}</p>
    {children === undefined ? null : <div className="max-w-md text-fg-2">{children}</div>}
    {action === undefined ? null : <div className="mt-2">{action}</div>}
  </div>
);

export const Skeleton = ({ className }: { readonly className?: string }): ReactNode => (
  <span
    aria-hidden
    className={cn("block h-4 animate-pulse rounded-tag bg-sunken", className)}
  />
);

/**
 * Appears over placeholder rows when loading takes long. Only CSS shows it, so that it also appears
 * while the page's scripts are loading.
 */
const StillLoading = ({ what }: { readonly what: string }): ReactNode => (
  <p className="absolute inset-x-0 top-2 z-10 animate-appear-late px-4 text-center" aria-hidden>
    <span className="rounded-control bg-surface px-2 text-fg-2">
      Still loading {what}: the service takes longer than usual.
    </span>
  </p>
);

interface LoadingRowsProps {
  readonly rows?: number;
  /** The noun of the loading records, for screen readers: `balances`. */
  readonly what: string;
  /** Taller rows on phones, for tables that become cards of three lines. */
  readonly cards?: boolean;
}

export const LoadingRows = ({ rows = 4, what, cards = false }: LoadingRowsProps): ReactNode => (
  <div role="status" className={cn("relative divide-y", cards && "@container")}>
    <span className="sr-only">Loading {what} …</span>
    <StillLoading what={what} />
    {Array.from({ length: rows }, (_, index) => (
      <div
        key={index}
        className={cn(
          "flex h-9 items-center justify-between gap-8 px-4",
          cards && "@max-[40rem]:h-[6.1875rem]",
        )}
      >
        <Skeleton className="w-1/3" />
        <Skeleton className="w-1/5" />
      </div>
    ))}
  </div>
);
