import { z } from "zod";
import { type Column, json, nullable, type RowOf, table, time } from "@/lib/platform/db/table";

/** Amounts in whole units of the asset, as decimal strings. */
interface AssetPoint {
  readonly assetId: string;
  readonly token: string;
  readonly amount: string;
  readonly usd: string | null;
}

const storedAssets = json(
  z.record(
    z.string(),
    z.object({ token: z.string(), amount: z.string(), usd: z.string().nullable() }),
  ),
);

const assets: Column<readonly AssetPoint[]> = {
  ...storedAssets,
  read: (stored) =>
    Object.entries(storedAssets.read(stored)).map(([assetId, asset]) => ({
      assetId,
      ...asset,
    })),
  write: (points) =>
    Object.fromEntries(points.map(({ assetId, ...asset }) => [assetId, asset])),
};

/** US dollars as a decimal string without trailing zeros. */
const usd: Column<string> = {
  type: "numeric",
  select: (name) => `trim_scale(${name})::text`,
  read: (stored) => stored as string,
  write: (value) => value,
};

export const historyPoints = table({
  takenAt: time,
  /** Null when the price of an asset was unknown. */
  totalUsd: nullable(usd),
  assets,
});

export type HistoryPoint = RowOf<typeof historyPoints>;
