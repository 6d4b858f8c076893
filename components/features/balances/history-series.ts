import type { ResponseOf } from "@/lib/contracts/contract";
import type { getBalanceHistory } from "@/lib/contracts/balances";

export type HistoryPoint = ResponseOf<typeof getBalanceHistory>["data"][number];

/**
 * The number of assets with their own series when more than five assets have a worth. People can
 * distinguish five colours, and the fifth colour is for the sum of the other assets.
 */
const NAMED_MAX = 4;
export const OTHERS_ID = "others";

export interface HistorySeries {
  readonly assets: readonly { readonly id: string; readonly label: string }[];
  /** One row per time: `at` in milliseconds since 1970, and the worth in US dollars by asset id. */
  readonly rows: readonly Readonly<Record<string, number>>[];
  /**
   * Symbols of tokens that lacked a price at some time. The chart counts them as zero at that time.
   */
  readonly unpriced: readonly string[];
}

// Floats are precise enough for the heights of areas; the table below the chart has the exact
// numbers.
const dollars = (usd: string | null): number => (usd === null ? 0 : Number(usd));

/**
 * The series of the chart. Up to five assets have one series each. With more assets, the four with
 * the highest worth at any time have their own series, and one more series sums the others.
 */
export const historySeries = (points: readonly HistoryPoint[]): HistorySeries => {
  const labels = new Map<string, string>();
  const worth = new Map<string, number>();
  const unpriced = new Set<string>();
  for (const point of points)
    for (const asset of point.assets) {
      labels.set(asset.assetId, asset.token);
      if (asset.usd === null) unpriced.add(asset.token);
      worth.set(asset.assetId, Math.max(worth.get(asset.assetId) ?? 0, dollars(asset.usd)));
    }
  const ranked = [...worth].filter(([, most]) => most > 0).sort(([, a], [, b]) => b - a);
  const named = ranked
    .slice(0, ranked.length === NAMED_MAX + 1 ? NAMED_MAX + 1 : NAMED_MAX)
    .map(([id]) => id);
  const assets = named.map((id) => ({ id, label: labels.get(id) ?? id }));
  const rest = ranked.length > named.length;
  const rows = points.map((point) => {
    const row: Record<string, number> = { at: Date.parse(point.takenAt) };
    for (const id of named) row[id] = 0;
    if (rest) row[OTHERS_ID] = 0;
    for (const asset of point.assets) {
      const id = named.includes(asset.assetId) ? asset.assetId : OTHERS_ID;
      if (id === OTHERS_ID && !rest) continue;
      row[id] = (row[id] ?? 0) + dollars(asset.usd);
    }
    return row;
  });
  return {
    assets: rest ? [...assets, { id: OTHERS_ID, label: "Others" }] : assets,
    rows,
    unpriced: [...unpriced],
  };
};
