"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { sumByAsset } from "@/components/features/operations/asset-sums";
import { statusSentence } from "@/components/features/operations/sentences";
import { useChainName } from "@/components/features/operations/use-chain-name";
import { Amount } from "@/components/ui/amount";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { ErrorState } from "@/components/ui/error-state";
import { Skeleton } from "@/components/ui/skeleton";
import { isLate, percentOf } from "./progress";
import { useOperations, type Operation } from "./use-operations";

const COUNTED_MAX = 100;
const SHOWN = 4;

/** The operations under way, each with how far it is; refreshed while the page is open. */
export const MovingCard = (): ReactNode => {
  const { data, error, isPending, refetch } = useOperations({ status: "processing", limit: COUNTED_MAX });
  const count = data?.data.length ?? 0;
  return (
    <Card
      title="Moving now"
      flush
      actions={
        <Link href="/activity?status=processing" className="link num text-sm">
          {count === 0 ? "Activity" : `All ${String(count)}${data?.nextCursor == null ? "" : "+"}`}
        </Link>
      }
    >
      {isPending ? (
        <Loading />
      ) : data === undefined ? (
        <ErrorState error={error} money="Operations that run go on without this page." onRetry={() => void refetch()} />
      ) : count === 0 ? (
        <p className="px-4 py-3 text-fg-2">Nothing is on its way.</p>
      ) : (
        <ul className="divide-y">
          {data.data.slice(0, SHOWN).map((operation) => (
            <MovingLine key={operation.operationId} operation={operation} />
          ))}
        </ul>
      )}
    </Card>
  );
};

const Loading = (): ReactNode => (
  <div role="status" className="flex items-center gap-4 px-4 py-3">
    <span className="sr-only">Loading what moves …</span>
    <Skeleton className="w-1/3" />
    <Skeleton className="h-1.5 flex-1" />
  </div>
);

const MovingLine = ({ operation }: { readonly operation: Operation }): ReactNode => {
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
            <span aria-label="to">→</span> <Amount value={quoted.to.minAmount} unit={quoted.to.token.symbol} plain />
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

/** The sentence beside it says the same to screen readers. */
const ProgressBar = ({ percent, late }: { readonly percent: number; readonly late: boolean }): ReactNode => (
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
