import { usdText } from "@/lib/core/amount-text";

/** In this order; their distances hold for colour-blind eyes too. */
export const CHART_COLOURS = [
  "var(--chart-1)",
  "var(--chart-2)",
  "var(--chart-3)",
  "var(--chart-4)",
  "var(--chart-5)",
] as const;

export const TOOLTIP_LOOKS = {
  cursor: { fill: "var(--sunken)", stroke: "var(--border)" },
  contentStyle: { background: "var(--surface)", border: "1px solid var(--border)", borderRadius: 6, fontSize: 13 },
  labelStyle: { color: "var(--text-1)" },
  itemStyle: { color: "var(--text-1)" },
} as const;

/** With cents, for tooltips. */
export const dollars = (value: unknown): string => usdText(Number(value).toFixed(2)).text;

/** Short, for axes: `$12.5K`. */
export const axisDollars = (value: number): string =>
  new Intl.NumberFormat(undefined, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    notation: value < 10_000 ? "standard" : "compact",
    maximumFractionDigits: value < 10_000 ? 0 : 1,
  }).format(value);
