"use client";

import { ChartColumn } from "lucide-react";
import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { type ReactNode, useState } from "react";
import { ApiSnippet } from "@/components/features/api-snippet/api-snippet";
import { apiQuery } from "@/components/features/session/api-query";
import { useLiveQuery } from "@/components/features/session/use-api";
import { buttonLooks } from "@/components/ui/button-looks";
import { Field } from "@/components/ui/field";
import { PageHeader } from "@/components/ui/page-header";
import { Select } from "@/components/ui/select";
import { EmptyState, QueryCard } from "@/components/ui/states";
import { Table } from "@/components/ui/table";
import { useHydrated } from "@/components/ui/use-hydrated";
import { summarizeActivity } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";
import { Days, DatesMenu, FilterChips, useActivityFilters } from "./activity-filters";
import { type ActivityFilters, toListQuery, yearStart } from "./filter-model";
import { type Grouping, GROUPINGS, summaryColumns } from "./summary-columns";

const MONEY = "No money is touched: sums only show what is recorded.";

const OPTIONS = [
  { value: "counterparty", label: "Counterparty" },
  { value: "token", label: "Token" },
  { value: "tag", label: "Tag" },
  { value: "month", label: "Month" },
] as const satisfies readonly { readonly value: Grouping; readonly label: string }[];

const byParser = parseAsStringLiteral(GROUPINGS).withDefault("month");

/** The query of the API. Months and days are in the reader's time zone. */
const useSummaryQuery = (by: Grouping, filters: ActivityFilters) => {
  const [now] = useState(() => new Date());
  const from = filters.from ?? yearStart(now);
  return {
    by,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    ...toListQuery({ ...filters, from }),
  };
};

export const ActivitySummary = (): ReactNode => {
  const [by, setBy] = useQueryState("by", byParser.withOptions({ history: "replace" }));
  const state = useActivityFilters();
  const query = useSummaryQuery(by, state.filters);
  // The browser sends the query, because the server does not know the reader's time zone.
  const isHydrated = useHydrated();
  const summary = useLiveQuery({
    ...apiQuery(summarizeActivity, { query }),
    enabled: isHydrated,
  });
  return (
    <>
      <PageHeader
        title="Summary of activity"
        description="What came in and went out in the last 12 months, or on the days you choose, in US dollars as each movement was priced then. Moves between your own wallets and accounts are counted, and are neither in nor out."
        actions={
          <Link href="/activity" className={buttonLooks()}>
            Activity
          </Link>
        }
      />
      <div className="flex flex-col gap-4">
        <div className="grid grid-cols-2 items-end gap-3 md:flex md:flex-wrap">
          <Field label="Sum by">
            <Select
              className="md:w-44"
              value={by}
              options={OPTIONS}
              onValueChange={(value) =>
                void setBy(GROUPINGS.find((grouping) => grouping === value) ?? null)
              }
            />
          </Field>
          <DatesMenu onChoose={state.change} />
          <Days state={state} />
        </div>
        <FilterChips state={state} />
        <QueryCard
          query={summary}
          what="the summary"
          money={MONEY}
          empty={
            <EmptyState icon={ChartColumn} title="Nothing moved in this period">
              Choose other days, or see everything on{" "}
              <Link className="link" href="/activity">
                Activity
              </Link>
              .
            </EmptyState>
          }
        >
          {(found) => <Groups summary={found} />}
        </QueryCard>
        <ApiSnippet call={summarizeActivity} query={isHydrated ? query : { by }} />
      </div>
    </>
  );
};

const Groups = ({
  summary: { by, data, cut },
}: {
  readonly summary: ResponseOf<typeof summarizeActivity>;
}): ReactNode => (
  <>
    <Table
      caption="Summary of activity"
      columns={summaryColumns(by, data)}
      rows={data}
      rowKey={({ key }) => key ?? ""}
    />
    {cut === 0 ? null : (
      <p className="border-t px-4 py-3 text-sm text-fg-2">
        {cut} more {cut === 1 ? "group is" : "groups are"} not shown. Choose fewer days to see
        them.
      </p>
    )}
  </>
);
