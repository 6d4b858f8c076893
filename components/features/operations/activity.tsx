"use client";

import { ChartColumn, List } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type ReactNode, useCallback, useMemo } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { DustLines } from "@/components/features/deposits/dust-lines";
import { ExportMenu } from "@/components/features/exports/export-menu";
import { type Names, useNames } from "@/components/features/names/names";
import { PagedCard } from "@/components/features/session/paged-card";
import { useApi } from "@/components/features/session/use-api";
import { joinPages, usePages } from "@/components/features/session/use-lists";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { EmptyState } from "@/components/ui/states";
import { Kbd } from "@/components/ui/kbd";
import { PageHeader } from "@/components/ui/page-header";
import {
  SelectButton,
  selectColumn,
  type Selection,
  useBulkAct,
  useSelection,
} from "@/components/ui/selection";
import { Table, useListKeys } from "@/components/ui/table";
import { useHydrated } from "@/components/ui/use-hydrated";
import { exportActivity, listActivity } from "@/lib/api-client/calls.gen";
import type { ApiClient } from "@/lib/api-client/client";
import type { QueryInput, ResponseOf } from "@/lib/contracts/contract";
import { activityColumns } from "./activity-columns";
import { type ActivityRow, pathOfEntry } from "./activity-entry";
import { FilterBar, FilterChips, useActivityFilters } from "./activity-filters";
import { activityPdf } from "./activity-pdf";
import { SelectedMovements, useMovementLabel } from "./selected-movements";
import { type ActivityFilters, activityPages, isFiltered, toListQuery } from "./filter-model";

const MONEY = "Movements that run go on without this page.";

export const Activity = (): ReactNode => {
  const state = useActivityFilters();
  const list = usePages(activityPages(state.filters));
  const movements = useMovements(list.data);
  const selection = useSelection({
    keys: useMemo(() => movements.map(({ id }) => id), [movements]),
    filters: JSON.stringify(state.filters),
  });
  const act = useBulkAct(selection);
  // The filter's days become times in the reader's time zone, which the server does not know.
  const query = useHydrated() ? toListQuery(state.filters) : {};
  return (
    <>
      <PageHeader
        title="Activity"
        description={
          <>
            Everything that moved money, newest first.{" "}
            <span className="max-md:hidden">
              <Kbd>j</Kbd> <Kbd>k</Kbd> move, <Kbd>Enter</Kbd> opens, <Kbd>x</Kbd> selects.
            </span>
          </>
        }
        actions={
          <Link href="/activity/summary" className={buttonLooks()}>
            <ChartColumn aria-hidden /> Summary
          </Link>
        }
      />
      <div className="flex flex-col gap-4">
        <FilterBar state={state}>
          <SelectButton selection={selection} />
          <ActivityExport filters={state.filters} query={query} />
        </FilterBar>
        <FilterChips state={state} />
        <PagedCard
          list={list}
          what="activity"
          money={MONEY}
          empty={<NothingHere filtered={isFiltered(state.filters)} onReset={state.clear} />}
        >
          {(rows) => <ActivityTable rows={rows} selection={selection} />}
        </PagedCard>
        <SelectedMovements movements={movements} selection={selection} act={act} />
        {list.data !== undefined && !list.hasNextPage && showsDust(state.filters) ? (
          <DustLines />
        ) : null}
        <ApiSnippet call={listActivity} query={query} />
      </div>
    </>
  );
};

/** Dust deposits are shown only in the unfiltered list and when deposits are selected. */
const showsDust = (filters: ActivityFilters): boolean =>
  !isFiltered(filters) || filters.kind?.includes("deposit") === true;

type ListedPages = Parameters<typeof joinPages<ActivityRow>>[0];

/** The rows of all loaded pages. */
const useMovements = (data: ListedPages | undefined): readonly ActivityRow[] =>
  useMemo(() => (data === undefined ? [] : joinPages(data).data), [data]);

interface ActivityTableProps {
  readonly rows: readonly ActivityRow[];
  readonly selection: Selection;
}

const ActivityTable = ({ rows, selection }: ActivityTableProps): ReactNode => {
  const router = useRouter();
  const paths = useMemo(() => new Map(rows.map((row) => [row.id, pathOfEntry(row)])), [rows]);
  const keys = useMemo(() => [...paths.keys()], [paths]);
  const onOpen = useCallback(
    (id: string) => router.push(paths.get(id) ?? "/activity"),
    [router, paths],
  );
  const active = useListKeys({ keys, onOpen, onSelect: selection.toggle });
  const select = selectColumn<ActivityRow>({
    selection,
    keyOf: ({ id }) => id,
    labelOf: useMovementLabel(),
  });
  return (
    <Table
      caption="Activity"
      columns={[select, ...activityColumns(rows)]}
      rows={rows}
      rowKey={({ id }) => id}
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
      Swaps, transfers, deposits, payouts and fundings appear here.{" "}
      <Link className="link" href="/swap">
        Make the first one
      </Link>
      .
    </EmptyState>
  );

/** The API's limit of rows per page. */
const PAGE = 100;
const PAGES_MAX = 20;

const makePdf = async (
  api: ApiClient,
  { filters, ofAddress }: { readonly filters: ActivityFilters } & Pick<Names, "ofAddress">,
): Promise<string> => {
  const rows: ActivityRow[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query: NonNullable<QueryInput<typeof listActivity>> = {
      ...toListQuery(filters),
      limit: PAGE,
      cursor: cursor ?? undefined,
    };
    const { data, nextCursor }: ResponseOf<typeof listActivity> = await api.call(listActivity, {
      query,
    });
    rows.push(...data);
    cursor = nextCursor;
    if (cursor === null) break;
  }
  return activityPdf({ rows, ofAddress, filters, cut: cursor !== null, madeAt: new Date() });
};

const fileName = (ending: string): string =>
  `causeway-activity-${new Date().toISOString().slice(0, 10)}.${ending}`;

interface ActivityExportProps {
  readonly filters: ActivityFilters;
  readonly query: ReturnType<typeof toListQuery> | Record<string, never>;
}

/**
 * The menu that exports the filtered movements, including those on pages that are not loaded. The
 * PDF has at most the first `PAGES_MAX` pages of `PAGE` movements.
 */
const ActivityExport = ({ filters, query }: ActivityExportProps): ReactNode => {
  const api = useApi();
  const { ofAddress } = useNames();
  return (
    <ExportMenu
      kind="activity"
      query={query}
      makeCsv={async () => ({
        text: await api.call(exportActivity, { query }),
        name: fileName("csv"),
      })}
      makePdf={async () => ({
        text: await makePdf(api, { filters, ofAddress }),
        name: fileName("pdf"),
        mediaType: "application/pdf",
      })}
    />
  );
};
