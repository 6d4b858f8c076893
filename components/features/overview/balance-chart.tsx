"use client";

import type { ReactNode } from "react";
import { Bar, BarChart, Legend, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { usePublicConfig } from "@/components/providers/public-config";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";
import { axisDollars, CHART_COLOURS, dollars, TOOLTIP_LOOKS } from "./chart-looks";
import type { Balances } from "./use-balances";

const BAR_PX = 26;
const AXES_PX = 64;

type Row = Record<string, string | number>;

// Lengths of bars are the one place where an amount may become a float; the exact numbers stand in the table below.
const rowsOf = (balances: Balances): Row[] =>
  balances.totals
    .filter((total) => total.usd !== null && Number(total.usd) > 0)
    .sort((a, b) => Number(b.usd) - Number(a.usd))
    .map((total) => {
      const row: Row = { token: total.token };
      for (const chain of total.chains) row[String(chain.chainId)] = Number(chain.usd ?? 0);
      return row;
    });

/** Value in US dollars per token, stacked by chain. The table of balances has the same numbers, for everybody. */
export const BalanceChart = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { chains } = usePublicConfig();
  const [hidden] = useHiddenAmounts();
  const rows = rowsOf(balances);
  if (rows.length === 0) return null;
  return (
    <figure>
      <figcaption className="pb-1 text-sm text-fg-2">
        US dollars per token and chain.{" "}
        <span className="sr-only">The same numbers stand in the table of balances.</span>
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
              tickFormatter={hidden ? () => "" : axisDollars}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
            />
            <YAxis type="category" dataKey="token" width={56} stroke="var(--text-3)" fontSize={12} tickLine={false} />
            {hidden ? null : <Tooltip {...TOOLTIP_LOOKS} formatter={dollars} />}
            <Legend
              iconType="square"
              iconSize={10}
              wrapperStyle={{ fontSize: 12 }}
              formatter={(name: string) => <span className="text-fg-2">{name}</span>}
            />
            {chains.map((chain, index) => (
              <Bar
                key={chain.id}
                dataKey={String(chain.id)}
                name={chain.name}
                stackId="usd"
                fill={CHART_COLOURS[index % CHART_COLOURS.length] ?? "var(--chart-1)"}
                stroke="var(--surface)"
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
