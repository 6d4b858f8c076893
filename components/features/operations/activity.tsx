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
import { useListKeys } from "@/components/ui/use-list-keys";
import { pathOf } from "@/lib/api-client/client";
import { listOperations } from "@/lib/contracts/operations";
import { ActivityFilters } from "./activity-filters";
import { ExportButton } from "./export-button";
import { useAnnotatedColumns } from "./annotated-columns";
import { FilterChips } from "./filter-chips";
import { isFiltered, toListQuery } from "./filter-model";
import { PdfButton } from "./pdf-button";
import type { Operation } from "./types";
import { useActivityFilters } from "./use-activity-filters";
import { useOperationList } from "./use-operation-list";

const MONEY = "Operations that run go on without this page.";

export const Activity = (): ReactNode => {
  const state = useActivityFilters();
  const list = useOperationList(state.filters);
  const operations = list.data?.pages.flatMap((page) => page.data);
  return (
    <>
      <PageHeader
        title="Activity"
        description={
          <>
            Swaps, transfers and deposits, newest first. See also{" "}
            <Link className="link" href="/payouts">
              Payouts
            </Link>{" "}
            and the entries of{" "}
            <Link className="link" href="/accounts">
              Accounts
            </Link>
            .{" "}
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
        {list.isError && operations !== undefined ? (
          <Alert tone="warning" title="The list could not be refreshed">
            You see the last known one. The page tries again automatically. {MONEY}
          </Alert>
        ) : null}
        <Card flush>
          {list.isPending ? (
            <LoadingRows what="activity" rows={8} />
          ) : operations === undefined ? (
            <ErrorState error={list.error} money={MONEY} onRetry={() => void list.refetch()} />
          ) : operations.length === 0 ? (
            <NothingHere filtered={isFiltered(state.filters)} onReset={state.clear} />
          ) : (
            <OperationTable operations={operations} />
          )}
        </Card>
        {list.hasNextPage ? (
          <div className="flex justify-center">
            <Button loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              Load more
            </Button>
          </div>
        ) : null}
        <ApiSnippet method="GET" path={pathOf(listOperations, { query: toListQuery(state.filters) })} />
      </div>
    </>
  );
};

const OperationTable = ({ operations }: { readonly operations: readonly Operation[] }): ReactNode => {
  const router = useRouter();
  const ids = operations.map((operation) => operation.operationId).join(" ");
  const keys = useMemo(() => ids.split(" "), [ids]);
  const onOpen = useCallback((id: string) => router.push(`/activity/${id}`), [router]);
  const active = useListKeys({ keys, onOpen });
  return (
    <Table
      caption="Operations"
      columns={useAnnotatedColumns(operations)}
      rows={operations}
      rowKey={(operation) => operation.operationId}
      activeKey={active}
    />
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
      Swaps, transfers and deposits appear here.{" "}
      <Link className="link" href="/swap">
        Make the first one
      </Link>
      .
    </EmptyState>
  );
