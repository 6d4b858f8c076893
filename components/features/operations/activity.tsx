"use client";

import { List } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useCallback, useMemo, type ReactNode } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { Kbd } from "@/components/ui/kbd";
import { PageHeader } from "@/components/ui/page-header";
import { Card } from "@/components/ui/card";
import { LoadingRows } from "@/components/ui/skeleton";
import { Table } from "@/components/ui/table";
import { useHydrated } from "@/components/ui/use-hydrated";
import { useListKeys } from "@/components/ui/use-list-keys";
import { pathOf } from "@/lib/api-client/client";
import { listActivity } from "@/lib/api-client/calls.gen";
import { activityColumns } from "./activity-columns";
import { pathOfEntry, type ActivityRow } from "./activity-entry";
import { ActivityFilters } from "./activity-filters";
import { ExportButton } from "./export-button";
import { FilterChips } from "./filter-chips";
import { isFiltered, toListQuery } from "./filter-model";
import { PdfButton } from "./pdf-button";
import { useActivityFilters } from "./use-activity-filters";
import { useActivityList } from "./use-activity-list";

const MONEY = "Movements that run go on without this page.";

export const Activity = (): ReactNode => {
  const state = useActivityFilters();
  const list = useActivityList(state.filters);
  const rows = list.data?.pages.flatMap((page) => page.data);
  // Days of a filter become moments by the reader's time zone, which the server does not know.
  const query = useHydrated() ? toListQuery(state.filters) : {};
  return (
    <>
      <PageHeader
        title="Activity"
        description={
          <>
            Everything that moved money, newest first.{" "}
            <span className="max-md:hidden">
              <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens.
            </span>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <ActivityFilters state={state}>
          <ExportButton filters={state.filters} />
          <PdfButton filters={state.filters} />
        </ActivityFilters>
        <FilterChips state={state} />
        {list.isError && rows !== undefined ? (
          <Alert tone="warning" title="The list could not be refreshed">
            You see the last known one. The page tries again automatically. {MONEY}
          </Alert>
        ) : null}
        <Card flush>
          {list.isPending ? (
            <LoadingRows what="activity" rows={8} />
          ) : rows === undefined ? (
            <ErrorState error={list.error} money={MONEY} onRetry={() => void list.refetch()} />
          ) : rows.length === 0 ? (
            <NothingHere filtered={isFiltered(state.filters)} onReset={state.clear} />
          ) : (
            <ActivityTable rows={rows} />
          )}
        </Card>
        {list.hasNextPage ? (
          <div className="flex justify-center">
            <Button loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Load more
            </Button>
          </div>
        ) : null}
        <ApiSnippet method="GET" path={pathOf(listActivity, { query })} />
      </div>
    </>
  );
};

const ActivityTable = ({ rows }: { readonly rows: readonly ActivityRow[] }): ReactNode => {
  const router = useRouter();
  const paths = useMemo(() => new Map(rows.map((row) => [row.id, pathOfEntry(row)])), [rows]);
  const keys = useMemo(() => [...paths.keys()], [paths]);
  const onOpen = useCallback((id: string) => router.push(paths.get(id) ?? "/activity"), [router, paths]);
  const active = useListKeys({ keys, onOpen });
  return (
    <Table caption="Activity" columns={activityColumns(rows)} rows={rows} rowKey={({ id }) => id} activeKey={active} />
  );
};

interface NothingHereProps {
  readonly filtered: boolean;
  readonly onReset: () => void;
}

const NothingHere = ({ filtered, onReset }: NothingHereProps): ReactNode =>
  filtered ? (
    <EmptyState
      icon={List}
      title="Nothing fits the filters"
      action={<Button onClick={onReset}>Show everything</Button>}
    />
  ) : (
    <EmptyState icon={List} title="Nothing has moved yet">
      Swaps, transfers, deposits, payouts and fundings appear here.{" "}
      <Link className="link" href="/swap">
        Make the first one
      </Link>
      .
    </EmptyState>
  );
