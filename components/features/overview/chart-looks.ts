import { shortenAmount } from "@/components/ui/shorten-amount";

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
export const dollars = (value: unknown): string => `$${shortenAmount(Number(value).toFixed(2), 2).text}`;

const THOUSAND = 1_000;
const MILLION = 1_000_000;
const short = (value: number): string => shortenAmount(value.toFixed(1), 1).text;

/** Short, for axes: `$12.5k`. */
export const axisDollars = (value: number): string =>
  value >= MILLION
    ? `$${short(value / MILLION)}m`
    : value >= 10 * THOUSAND
      ? `$${short(value / THOUSAND)}k`
      : `$${shortenAmount(String(Math.round(value)), 0).text}`;
