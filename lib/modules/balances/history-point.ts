import { z } from "zod";

/** The balances of a project at one moment. Amounts in whole units of the asset, as decimal strings. */
export interface HistoryPoint {
  readonly takenAt: Date;
  /** Null when the price of an asset was unknown. */
  readonly totalUsd: string | null;
  readonly assets: readonly {
    readonly assetId: string;
    readonly token: string;
    readonly amount: string;
    readonly usd: string | null;
  }[];
}

const storedAssets = z.record(
  z.string(),
  z.object({ token: z.string(), amount: z.string(), usd: z.string().nullable() }),
);

/** A row of the table `balance_snapshot`. */
export interface HistoryColumns {
  taken_at: Date;
  total_usd: string | null;
  assets: unknown;
}

/** @throws ZodError when the column `assets` does not have the shape that this version writes */
export const parsePoint = (row: HistoryColumns): HistoryPoint => ({
  takenAt: row.taken_at,
  totalUsd: row.total_usd,
  assets: Object.entries(storedAssets.parse(row.assets)).map(([assetId, asset]) => ({ assetId, ...asset })),
});
