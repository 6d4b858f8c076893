"use client";

import { CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { ErrorState } from "@/components/ui/error-state";
import { Sheet } from "@/components/ui/sheet";
import { LoadingRows } from "@/components/ui/skeleton";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import type { Status } from "@/lib/core/status";
import { useOperations, type OperationsPage } from "./use-operations";

const COUNTED_MAX = 100;
type OpenQuery = ReturnType<typeof useOperations>;

/** How many operations are under way, wait, or failed; each count leads to its list. */
export const OpenOperations = (): ReactNode => {
  const processing = useOperations({ status: "processing", limit: COUNTED_MAX });
  const pending = useOperations({ status: "pending", limit: COUNTED_MAX });
  const failed = useOperations({ status: "failed", limit: COUNTED_MAX });
  const counts: readonly (readonly [Status, OpenQuery])[] = [
    ["processing", processing],
    ["pending", pending],
    ["failed", failed],
  ];
  const lost = counts.map(([, query]) => query).filter((query) => query.isError && query.data === undefined);
  return (
    <Sheet title="Operations" flush>
      {lost[0] === undefined ? (
        <ul className="divide-y">
          {counts.map(([status, query]) => (
            <li key={status}>
              <CountLine status={status} page={query.data} />
            </li>
          ))}
        </ul>
      ) : (
        <ErrorState
          error={lost[0].error}
          money="Operations that run go on without this page."
          onRetry={() => {
            for (const query of lost) void query.refetch();
          }}
        />
      )}
    </Sheet>
  );
};

interface CountLineProps {
  readonly status: Status;
  readonly page: OperationsPage | undefined;
}

const CountLine = ({ status, page }: CountLineProps): ReactNode => {
  const { icon, word } = STATUS_VIEWS[status];
  if (page === undefined) return <LoadingRows rows={1} what={word} />;
  const count = page.data.length;
  const Icon = count === 0 ? CircleCheck : icon;
  return (
    <Link href={`/activity?status=${status}`} className="flex h-9 items-center gap-2 px-4 hover:bg-sunken touch-target">
      <Icon className="size-4 text-fg-3" aria-hidden />
      <span className="flex-1">{word}</span>
      <span className="num font-medium">{page.nextCursor === null ? count : `${count}+`}</span>
    </Link>
  );
};
