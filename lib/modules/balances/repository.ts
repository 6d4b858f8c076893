import type { Database } from "@/lib/db/client";
import { Prisma } from "@/lib/db/generated/client";
import { parsePoint, type HistoryColumns, type HistoryPoint } from "./history-point";

const HOUR_MS = 3_600_000;
/** A range of up to this many days has a point for each hour; a longer one has a point for each day, as a chart cannot show more. */
const HOURLY_DAYS_MAX = 30;

/** Rows of `balance_snapshot`: one per project and hour. */
export const createSnapshotRepository = ({ prisma }: Database) => ({
  /** Keeps the latest point of an hour. A point without a total in US dollars never replaces one with a total. */
  save: async (projectId: string, point: HistoryPoint): Promise<void> => {
    const hour = new Date(Math.floor(point.takenAt.getTime() / HOUR_MS) * HOUR_MS);
    const assets = Object.fromEntries(point.assets.map(({ assetId, ...asset }) => [assetId, asset]));
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
