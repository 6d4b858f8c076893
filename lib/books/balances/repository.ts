import { z } from "zod";
import type { Database } from "@/lib/platform/db/client";
import { Prisma } from "@/lib/platform/db/generated/client";

/**
 * The balances of a project at one moment. Amounts in whole units of the asset, as decimal strings.
 */
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
interface HistoryColumns {
  taken_at: Date;
  total_usd: string | null;
  assets: unknown;
}

/** @throws ZodError when the column `assets` does not have the expected shape */
const parsePoint = (row: HistoryColumns): HistoryPoint => ({
  takenAt: row.taken_at,
  totalUsd: row.total_usd,
  assets: Object.entries(storedAssets.parse(row.assets)).map(([assetId, asset]) => ({
    assetId,
    ...asset,
  })),
});

const HOUR_MS = 3_600_000;
/**
 * A range of up to this many days has a point for each hour. A longer one has a point for each day,
 * because a chart cannot show more.
 */
const HOURLY_DAYS_MAX = 30;

/** Rows of `balance_snapshot`: one per project and hour. */
export const createSnapshotRepository = ({ prisma }: Database) => ({
  /**
   * Stores the point, replacing an earlier one of the same hour. A point without a total in US
   * dollars never replaces one with a total.
   */
  save: async (projectId: string, point: HistoryPoint): Promise<void> => {
    const hour = new Date(Math.floor(point.takenAt.getTime() / HOUR_MS) * HOUR_MS);
    const assets = Object.fromEntries(
      point.assets.map(({ assetId, ...asset }) => [assetId, asset]),
    );
    await prisma.$executeRaw`
      INSERT INTO balance_snapshot AS known (project_id, hour, taken_at, total_usd, assets)
      VALUES (${projectId}, ${hour}, ${point.takenAt}, ${point.totalUsd}::numeric, ${JSON.stringify(assets)}::jsonb)
      ON CONFLICT (project_id, hour) DO UPDATE
      SET taken_at = EXCLUDED.taken_at, total_usd = EXCLUDED.total_usd, assets = EXCLUDED.assets
      WHERE known.taken_at < EXCLUDED.taken_at AND (EXCLUDED.total_usd IS NOT NULL OR known.total_usd IS NULL)`;
  },

  /** Points since a time, oldest first: one per hour, or one per day when `days` is above 30. */
  list: async (projectId: string, since: Date, days: number): Promise<HistoryPoint[]> => {
    const bucket = Prisma.raw(days <= HOURLY_DAYS_MAX ? "hour" : "date_trunc('day', hour, 'UTC')");
    const rows = await prisma.$queryRaw<HistoryColumns[]>`
      SELECT DISTINCT ON (${bucket}) taken_at, trim_scale(total_usd)::text AS total_usd, assets
      FROM balance_snapshot WHERE project_id = ${projectId} AND hour >= ${since}
      ORDER BY ${bucket}, hour DESC`;
    return rows.map(parsePoint);
  },
});

export type SnapshotRepository = ReturnType<typeof createSnapshotRepository>;
