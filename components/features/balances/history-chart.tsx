"use client";

import { dateText } from "@/components/ui/date-text";
import type { ReactNode } from "react";
import { Area, AreaChart, CartesianGrid, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { axisDollars, CHART_COLOURS, dollars, TOOLTIP_LOOKS } from "@/components/features/overview/chart-looks";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import type { HistorySeries } from "./history-series";

const HEIGHT_PX = 208;
const DAY_MS = 86_400_000;

/** Times within two days, else dates. */
const timeText = (first: number, last: number, at: number): string =>
  dateText(at, last - first <= 2 * DAY_MS ? "time" : "day");

/** Dollars over time, stacked by asset. The table below has the exact numbers, for everybody. */
export const HistoryChart = ({ series }: { readonly series: HistorySeries }): ReactNode => {
  const [hidden] = useHiddenAmounts();
  const [first, last] = [series.rows[0]?.at ?? 0, series.rows.at(-1)?.at ?? 0];
  return (
    <figure>
      <figcaption className="pb-1 text-sm text-fg-2">
        US dollars per token. <span className="sr-only">The table below has the same numbers.</span>
      </figcaption>
      <div aria-hidden style={{ height: HEIGHT_PX }}>
        <ResponsiveContainer width="100%" height="100%">
          <AreaChart
            data={[...series.rows]}
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
              tickFormatter={hidden ? () => "" : axisDollars}
              width={hidden ? 8 : 64}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
              axisLine={false}
            />
            {hidden ? null : (
              <Tooltip
                {...TOOLTIP_LOOKS}
                formatter={dollars}
                labelFormatter={(at) => (typeof at === "number" ? dateText(at, "dateTime") : "")}
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
