"use client";

import dynamic from "next/dynamic";
import { LineChart } from "lucide-react";
import { parseAsInteger, useQueryState } from "nuqs";
import type { ReactNode } from "react";
import { EmptyState, QueryCard, Skeleton } from "@/components/ui/states";
import { HeldWorth } from "@/components/ui/amount";
import { Select } from "@/components/ui/select";
import { Time } from "@/components/ui/time";
import { useLiveQuery } from "@/components/features/session/use-api";
import { historySeries, type HistoryPoint } from "./history-series";
import { balanceHistoryQuery } from "./use-balances";

const HistoryChart = dynamic(() => import("./charts").then((module) => module.HistoryChart), {
  ssr: false,
  loading: () => <Skeleton className="h-52" />,
});

const RANGES = [7, 30, 90, 365] as const;
const DEFAULT_DAYS = 30;
/** The chart is hidden below this number of points, because a line needs two. */
const POINTS_MIN = 2;
const TABLE_ROWS_MAX = 48;

export const HistoryCard = (): ReactNode => {
  const [asked, setDays] = useQueryState(
    "days",
    parseAsInteger.withOptions({ history: "replace" }),
  );
  const days = RANGES.find((range) => range === asked) ?? DEFAULT_DAYS;
  const query = useLiveQuery(balanceHistoryQuery(days));
  return (
    <QueryCard
      title="History"
      className="flex flex-col"
      flush={false}
      actions={
        <Select
          label="Time shown"
          className="h-7 w-32 text-sm"
          value={String(days)}
          onValueChange={(value) =>
            void setDays(Number(value) === DEFAULT_DAYS ? null : Number(value))
          }
          options={RANGES.map((range) => ({ value: String(range), label: `${range} days` }))}
        />
      }
      query={query}
      what="the history"
      loading={
        <div role="status">
          <span className="sr-only">Loading the history …</span>
          <Skeleton className="h-52" />
        </div>
      }
      money="The balances on the chains are untouched."
    >
      {({ data }) =>
        data.length < POINTS_MIN ? <NotYet points={data} /> : <Drawn points={data} />
      }
    </QueryCard>
  );
};

const NotYet = ({ points }: { readonly points: readonly HistoryPoint[] }): ReactNode => (
  <EmptyState icon={LineChart} title="No history yet">
    The balance is recorded once an hour.{" "}
    {points[0] === undefined ? (
      "The line starts with the second record."
    ) : (
      <>
        The first record is from <Time value={points[0].takenAt} />; the line starts with the
        second.
      </>
    )}
  </EmptyState>
);

const Drawn = ({ points }: { readonly points: readonly HistoryPoint[] }): ReactNode => {
  const series = historySeries(points);
  return (
    <div className="flex flex-col gap-2">
      {series.assets.length === 0 ? (
        <EmptyState icon={LineChart} title="Nothing with a price in this time" />
      ) : (
        <HistoryChart series={series} />
      )}
      {series.unpriced.length === 0 ? null : (
        <p className="text-sm text-fg-2">
          Without {series.unpriced.join(", ")}: no price was known.
        </p>
      )}
      <HistoryTable points={points} />
    </div>
  );
};

const HistoryTable = ({ points }: { readonly points: readonly HistoryPoint[] }): ReactNode => (
  <details className="group">
    <summary className="w-fit cursor-pointer text-sm text-fg-2 hover:text-fg">
      The same as a table
    </summary>
    {/* The element scrolls, so the keyboard must be able to reach it. */}
    <div
      className="mt-2 max-h-56 overflow-y-auto border-t"
      tabIndex={0}
      role="region"
      aria-label="History as a table"
    >
      <table className="w-full text-sm">
        <caption className="sr-only">Total over time, newest first</caption>
        <thead>
          <tr className="border-b text-left text-fg-3">
            <th scope="col" className="h-8 font-medium">
              Time
            </th>
            <th scope="col" className="text-right font-medium">
              Total
            </th>
          </tr>
        </thead>
        <tbody className="divide-y">
          {points
            .slice(-TABLE_ROWS_MAX)
            .reverse()
            .map((point) => (
              <tr key={point.takenAt}>
                <td className="h-8">
                  <Time value={point.takenAt} absolute />
                </td>
                <td className="text-right">
                  <HeldWorth value={point.totalUsd} />
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
    {points.length > TABLE_ROWS_MAX ? (
      <p className="pt-1 text-sm text-fg-3">
        The newest {TABLE_ROWS_MAX}; the API has them all.
      </p>
    ) : null}
  </details>
);
