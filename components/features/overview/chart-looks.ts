import { currencyText } from "@/lib/core/amount-text";

/**
 * The colours of a chart's series, in the order of use. Colour-blind people can distinguish them.
 */
export const CHART_COLOURS = [
  "var(--chart-1)",
  "var(--chart-2)",
  "var(--chart-3)",
  "var(--chart-4)",
  "var(--chart-5)",
] as const;

export const TOOLTIP_LOOKS = {
  cursor: { fill: "var(--sunken)", stroke: "var(--border)" },
  contentStyle: {
    background: "var(--surface)",
    border: "1px solid var(--border)",
    borderRadius: 6,
    fontSize: 13,
  },
  labelStyle: { color: "var(--text-1)" },
  itemStyle: { color: "var(--text-1)" },
} as const;

/** A number of a chart as an amount in a currency, which is named by its ISO 4217 code. */
export const chartMoney = (value: unknown, currency: string): string =>
  currencyText(Number(value).toFixed(2), { currency }).text;

const SHORTENED_FROM = 10_000;
const UNITS = [
  [1e9, "B"],
  [1e6, "M"],
  [1e3, "K"],
] as const;

/**
 * A short amount of a currency for axes: `$12.5K`. The locale decides the separators and the
 * position of the sign. The unit is always English, because compact notation in other locales uses
 * words such as "Tsd.".
 * @param locale BCP 47; by default that of the browser
 */
export const axisMoney = (value: number, currency: string, locale?: string): string => {
  const unit =
    value < SHORTENED_FROM ? undefined : UNITS.find(([size]) => Math.round(value) >= size);
  const [size, letter] = unit ?? [1, ""];
  const parts = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
    numberingSystem: "latn",
    minimumFractionDigits: 0,
    maximumFractionDigits: unit === undefined ? 0 : 1,
  }).formatToParts(value / size);
  const last = parts.findLastIndex(({ type }) => type === "integer" || type === "fraction");
  return parts.map((part, index) => part.value + (index === last ? letter : "")).join("");
};
