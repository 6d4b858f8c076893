"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { sumByAsset } from "@/components/features/operations/operation-sums";
import { statusSentence } from "@/components/features/operations/sentences";
import { useChainName } from "@/components/providers/public-config";
import { Amount } from "@/components/ui/amount";
import { cn } from "@/components/ui/cn";
import { QueryCard, Skeleton } from "@/components/ui/states";
import {
  type ListedOperation,
  movingOperationsQuery,
} from "@/components/features/operations/operation";
import { useLiveQuery } from "@/components/features/session/use-api";

const SHOWN = 4;

export const MovingCard = ({ className }: { readonly className?: string }): ReactNode => {
  const query = useLiveQuery(movingOperationsQuery);
  const count = query.data?.data.length ?? 0;
  const more = query.data?.nextCursor == null ? "" : "+";
  return (
    <QueryCard
      className={className}
      title="Moving now"
      actions={
        <Link href="/activity?status=processing" className="link num text-sm">
          {count === 0 ? "Activity" : `All ${String(count)}${more}`}
        </Link>
      }
      query={query}
      what="what moves"
      loading={<Loading />}
      money="Operations that run go on without this page."
      empty={<p className="px-4 py-3 text-fg-2">Nothing is on its way.</p>}
    >
      {({ data }) => (
        <ul className="divide-y">
          {data.slice(0, SHOWN).map((operation) => (
            <MovingLine key={operation.operationId} operation={operation} />
          ))}
        </ul>
      )}
    </QueryCard>
  );
};

const Loading = (): ReactNode => (
  <div role="status" className="flex items-center gap-4 px-4 py-3">
    <span className="sr-only">Loading what moves …</span>
    <Skeleton className="w-1/3" />
    <Skeleton className="h-1.5 flex-1" />
  </div>
);

const MovingLine = ({ operation }: { readonly operation: ListedOperation }): ReactNode => {
  const chainName = useChainName();
  const { quoted, operationId } = operation;
  const late = isLate(operation);
  return (
    <li>
      <Link
        href={`/activity/${operationId}`}
        className="grid grid-cols-1 items-center gap-x-4 gap-y-1.5 px-4 py-2.5 hover:bg-sunken sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)]"
      >
        <span className="min-w-0">
          <span className="block font-medium">
            {sumByAsset(quoted.from).map((sum, index) => (
              <span key={sum.assetId}>
                {index === 0 ? "" : " + "}
                <Amount value={sum.amount} unit={sum.symbol} plain />
              </span>
            ))}{" "}
            <span aria-label="to">→</span>{" "}
            <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} plain />
          </span>
          <span className={cn("block truncate text-sm", late ? "text-warning" : "text-fg-2")}>
            {statusSentence(operation, chainName)}
          </span>
        </span>
        <ProgressBar percent={percentOf(operation)} late={late} />
      </Link>
    </li>
  );
};

/** Hidden from screen readers, because the sentence beside the bar contains the progress. */
const ProgressBar = ({
  percent,
  late,
}: {
  readonly percent: number;
  readonly late: boolean;
}): ReactNode => (
  <svg
    className={cn("h-3 w-full overflow-visible", late ? "text-warning" : "text-accent")}
    viewBox="0 0 100 3"
    preserveAspectRatio="none"
    aria-hidden
  >
    <line
      x1={0}
      x2={100}
      y1={1.5}
      y2={1.5}
      className="stroke-border"
      strokeWidth={6}
      vectorEffect="non-scaling-stroke"
    />
    <line
      x1={0}
      x2={percent}
      y1={1.5}
      y2={1.5}
      stroke="currentColor"
      strokeWidth={6}
      vectorEffect="non-scaling-stroke"
    />
  </svg>
);

type LegState = ListedOperation["legs"][number]["state"];

/**
 * Progress of a leg in per cent, by completed steps and not by time, because the duration of a step
 * differs between chains.
 */
const PERCENT_OF: Readonly<Record<LegState, number>> = {
  queued: 5,
  submitted: 20,
  source_seen: 40,
  bridging: 60,
  filled_seen: 85,
  refunding: 60,
  refund_seen: 85,
  needs_attention: 60,
  completed: 100,
  failed: 100,
  refunded: 100,
};

/** Average progress of the legs, 0 to 100, rounded down. */
const percentOf = ({ legs }: Pick<ListedOperation, "legs">): number => {
  if (legs.length === 0) return 0;
  const sum = legs.reduce((percent, leg) => percent + PERCENT_OF[leg.state], 0);
  return Math.floor(sum / legs.length);
};

const LATE: ReadonlySet<LegState> = new Set(["refunding", "refund_seen", "needs_attention"]);

const isLate = ({ legs, subStatus }: Pick<ListedOperation, "legs" | "subStatus">): boolean =>
  subStatus === "delayed" || legs.some(({ state }) => LATE.has(state));
