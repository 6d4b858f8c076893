"use client";

import { CircleCheck, CirclePause } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { PayoutApprovalsLine } from "@/components/features/payouts/approvals-line";
import { cn } from "@/components/ui/cn";
import { ErrorState } from "@/components/ui/error-state";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import type { Status } from "@/lib/core/status";
import { useOperations, type OperationsPage } from "./use-operations";

const COUNTED_MAX = 100;
type OpenQuery = ReturnType<typeof useOperations>;

/** How many operations wait for an approval, are under way, or failed; each count leads to its list. */
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
    <Card title="Operations" flush>
      {lost[0] === undefined ? (
        <ul className="divide-y">
          <li>
            <ApprovalsLine page={pending.data} />
          </li>
          <PayoutApprovalsLine />
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
    </Card>
  );
};

/** Nothing else goes on without a person, so it stands first. */
const ApprovalsLine = ({ page }: { readonly page: OperationsPage | undefined }): ReactNode => {
  if (page === undefined) return <LoadingRows rows={1} what="approvals" />;
  const count = page.data.filter((operation) => operation.may.approve).length;
  const Icon = count === 0 ? CircleCheck : CirclePause;
  return (
    <Link
      href="/activity?status=pending"
      className={cn(
        "flex h-9 items-center gap-2 px-4 touch-target",
        count === 0 ? "hover:bg-sunken" : "bg-warning-tint font-medium text-warning hover:underline",
      )}
    >
      <Icon className={cn("size-4", count === 0 && "text-fg-3")} aria-hidden />
      <span className="flex-1">Waiting for approval</span>
      <span className="num font-medium">{page.nextCursor === null ? count : `${count}+`}</span>
    </Link>
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
