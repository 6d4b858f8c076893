import { expect, test } from "vitest";
import { historySeries, type HistoryPoint } from "./history-series";

const point = (takenAt: string, worths: Record<string, string | null>): HistoryPoint => ({
  takenAt,
  totalUsd: null,
  assets: Object.entries(worths).map(([token, usd]) => ({
    assetId: token,
    token,
    amount: "1",
    usd,
  })),
});

test("an asset that came later was worth nothing before", () => {
  const series = historySeries([
    point("2026-01-01T00:00:00Z", { USDC: "5" }),
    point("2026-01-01T01:00:00Z", { USDC: "5", DAI: "7.5" }),
  ]);
  expect(series.assets.map((asset) => asset.label)).toEqual(["DAI", "USDC"]);
  expect(series.rows).toEqual([
    { at: Date.UTC(2026, 0, 1, 0), DAI: 0, USDC: 5 },
    { at: Date.UTC(2026, 0, 1, 1), DAI: 7.5, USDC: 5 },
  ]);
});

test("beyond the colours that can be told apart, assets are drawn together and none is lost", () => {
  const worths = { A: "10", B: "9", C: "8", D: "7", E: "2", F: "1" };
  const series = historySeries([point("2026-01-01T00:00:00Z", worths)]);
  expect(series.assets.map((asset) => asset.label)).toEqual(["A", "B", "C", "D", "Others"]);
  expect(series.rows[0]?.others).toBe(3);
  const five = { ...worths, F: "0" };
  expect(
    historySeries([point("2026-01-01T00:00:00Z", five)]).assets.map((asset) => asset.label),
  ).toEqual(["A", "B", "C", "D", "E"]);
});

test("what has no price is named, not drawn", () => {
  const series = historySeries([point("2026-01-01T00:00:00Z", { USDC: "5", ODD: null })]);
  expect(series.assets.map((asset) => asset.id)).toEqual(["USDC"]);
  expect(series.unpriced).toEqual(["ODD"]);
});
