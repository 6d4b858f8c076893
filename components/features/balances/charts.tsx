"use client";

import type { ReactNode } from "react";
import {
  Area,
  AreaChart,
  Bar,
  BarChart,
  CartesianGrid,
  Legend,
  ResponsiveContainer,
  Tooltip,
  XAxis,
  YAxis,
} from "recharts";
import {
  axisMoney,
  CHART_COLOURS,
  chartMoney,
  TOOLTIP_LOOKS,
} from "@/components/features/overview/chart-looks";
import { usePublicConfig } from "@/components/providers/public-config";
import { useWorthFactor } from "@/components/ui/reporting";
import { dateText } from "@/components/ui/time";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import type { HistorySeries } from "./history-series";
import type { Balances } from "./use-balances";

const HEIGHT_PX = 208;
const DAY_MS = 86_400_000;

/** A time of day when the range is at most two days, else a date. */
const timeText = (first: number, last: number, at: number): string =>
  dateText(at, last - first <= 2 * DAY_MS ? "time" : "day");

/**
 * Worth over time, stacked by asset. Screen readers use the table below, which has the exact
 * numbers.
 */
export const HistoryChart = ({ series }: { readonly series: HistorySeries }): ReactNode => {
  const [hidden] = useHiddenAmounts();
  const { currency, factor } = useWorthFactor();
  const [first, last] = [series.rows[0]?.at ?? 0, series.rows.at(-1)?.at ?? 0];
  return (
    <figure>
      <figcaption className="pb-1 text-sm text-fg-2">
        {currency} per token.{" "}
        <span className="sr-only">The table below has the same numbers.</span>
      </figcaption>
      <div aria-hidden style={{ height: HEIGHT_PX }}>
        <ResponsiveContainer width="100%" height="100%">
          <AreaChart
            data={series.rows.map((row) => inCurrency(row, factor))}
            margin={{ left: 0, right: 8, top: 4, bottom: 0 }}
            accessibilityLayer={false}
          >
            <CartesianGrid vertical={false} stroke="var(--border)" />
            <XAxis
              dataKey="at"
              type="number"
              scale="time"
              domain={["dataMin", "dataMax"]}
              tickFormatter={(at: number) => timeText(first, last, at)}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
              minTickGap={32}
            />
            <YAxis
              tickFormatter={(value: number) => (hidden ? "" : axisMoney(value, currency))}
              width={hidden ? 8 : 64}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
              axisLine={false}
            />
            {hidden ? null : (
              <Tooltip
                {...TOOLTIP_LOOKS}
                formatter={(value) => chartMoney(value, currency)}
                labelFormatter={(at) =>
                  typeof at === "number" ? dateText(at, "dateTime") : ""
                }
              />
            )}
            <Legend
              iconType="square"
              iconSize={10}
              itemSorter={null}
              wrapperStyle={{ fontSize: 12 }}
              formatter={(name: string) => <span className="text-fg-2">{name}</span>}
            />
            {series.assets.map((asset, index) => (
              <Area
                key={asset.id}
                dataKey={asset.id}
                name={asset.label}
                stackId="usd"
                type="linear"
                fill={CHART_COLOURS[index % CHART_COLOURS.length] ?? "var(--chart-1)"}
                fillOpacity={0.85}
                stroke={CHART_COLOURS[index % CHART_COLOURS.length] ?? "var(--chart-1)"}
                isAnimationActive={false}
              />
            ))}
          </AreaChart>
        </ResponsiveContainer>
      </div>
    </figure>
  );
};

/** Converts the amounts in a row of the chart from US dollars to another currency. */
const inCurrency = (
  row: HistorySeries["rows"][number],
  factor: number,
): HistorySeries["rows"][number] =>
  Object.fromEntries(
    Object.entries(row).map(([id, value]) => [id, id === "at" ? value : value * factor]),
  );

const BAR_PX = 26;
const AXES_PX = 40;

type Row = Record<string, string | number>;

// Floats are precise enough for the lengths of bars; the table below has the exact numbers.
const rowsOf = (balances: Balances, factor: number): Row[] =>
  balances.totals
    .filter((total) => total.usd !== null && Number(total.usd) > 0)
    .sort((a, b) => Number(b.usd) - Number(a.usd))
    .map((total) => {
      const row: Row = { token: total.token };
      for (const chain of total.chains)
        row[String(chain.chainId)] = Number(chain.usd ?? 0) * factor;
      return row;
    });

/**
 * Worth of each token, with gaps between its chains. All bars have one colour, because colours
 * stand for tokens in the chart beside this chart.
 */
export const CompositionChart = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { chains } = usePublicConfig();
  const [hidden] = useHiddenAmounts();
  const { currency, factor } = useWorthFactor();
  const rows = rowsOf(balances, factor);
  if (rows.length === 0) return null;
  return (
    <figure>
      <figcaption className="pb-1 text-sm text-fg-2">
        Value of each token in {currency}; gaps separate its chains.{" "}
        <span className="sr-only">The table of balances has the same numbers.</span>
      </figcaption>
      <div aria-hidden style={{ height: rows.length * BAR_PX + AXES_PX }}>
        <ResponsiveContainer width="100%" height="100%">
          <BarChart
            data={rows}
            layout="vertical"
            margin={{ left: 0, right: 16, top: 4, bottom: 0 }}
            accessibilityLayer={false}
          >
            <XAxis
              type="number"
              tickFormatter={(value: number) => (hidden ? "" : axisMoney(value, currency))}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
            />
            <YAxis
              type="category"
              dataKey="token"
              width={56}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
            />
            {hidden ? null : (
              <Tooltip {...TOOLTIP_LOOKS} formatter={(value) => chartMoney(value, currency)} />
            )}
            {chains.map((chain) => (
              <Bar
                key={chain.id}
                dataKey={String(chain.id)}
                name={chain.name}
                stackId="usd"
                fill="var(--text-3)"
                stroke="var(--surface)"
                strokeWidth={2}
                barSize={16}
                isAnimationActive={false}
              />
            ))}
          </BarChart>
        </ResponsiveContainer>
      </div>
    </figure>
  );
};
