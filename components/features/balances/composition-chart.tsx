"use client";

import type { ReactNode } from "react";
import { Bar, BarChart, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { axisDollars, dollars, TOOLTIP_LOOKS } from "@/components/features/overview/chart-looks";
import type { Balances } from "@/components/features/overview/use-balances";
import { usePublicConfig } from "@/components/providers/public-config";
import { useHiddenAmounts } from "@/components/ui/hidden-amounts";

const BAR_PX = 26;
const AXES_PX = 40;

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

/**
 * Value in US dollars per token, with a joint between chains. All bars have one colour: the chart beside it gives each token a colour,
 * and a colour means one thing on the page.
 */
export const CompositionChart = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const { chains } = usePublicConfig();
  const [hidden] = useHiddenAmounts();
  const rows = rowsOf(balances);
  if (rows.length === 0) return null;
  return (
    <figure>
      <figcaption className="pb-1 text-sm text-fg-2">
        Value of each token in US dollars; gaps separate its chains.{" "}
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
              tickFormatter={hidden ? () => "" : axisDollars}
              stroke="var(--text-3)"
              fontSize={12}
              tickLine={false}
            />
            <YAxis type="category" dataKey="token" width={56} stroke="var(--text-3)" fontSize={12} tickLine={false} />
            {hidden ? null : <Tooltip {...TOOLTIP_LOOKS} formatter={dollars} />}
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
