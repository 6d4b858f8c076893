import { z } from "zod";
import type { Database } from "@/lib/db/client";
import { Prisma } from "@/lib/db/generated/client";

/** What a project held at one moment. Amounts in whole units of the asset, as decimal strings. */
export interface HistoryPoint {
  readonly takenAt: Date;
  /** Null where the worth of a part was not known. */
  readonly totalUsd: string | null;
  readonly assets: readonly {
    readonly assetId: string;
    readonly token: string;
    readonly amount: string;
    readonly usd: string | null;
  }[];
}

const HOUR_MS = 3_600_000;
/** Up to so many days a point is an hour, beyond it a day: more points than a chart has pixels help nobody. */
const HOURLY_DAYS_MAX = 30;

const storedAssets = z.record(
  z.string(),
  z.object({ token: z.string(), amount: z.string(), usd: z.string().nullable() }),
);

interface Row {
  taken_at: Date;
  total_usd: string | null;
  assets: unknown;
}

const toPoint = (row: Row): HistoryPoint => ({
  takenAt: row.taken_at,
  totalUsd: row.total_usd,
  assets: Object.entries(storedAssets.parse(row.assets)).map(([assetId, asset]) => ({ assetId, ...asset })),
});

/** Rows of `balance_snapshot`: one per project and hour. */
export const createSnapshotRepository = ({ prisma }: Database) => ({
  /** The latest of its hour stays; but one whose worth is not known takes the place of none whose worth is. */
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

  /** Oldest first. */
  list: async (projectId: string, since: Date, days: number): Promise<HistoryPoint[]> => {
    const bucket = Prisma.raw(days <= HOURLY_DAYS_MAX ? "hour" : "date_trunc('day', hour, 'UTC')");
    const rows = await prisma.$queryRaw<Row[]>`
      SELECT DISTINCT ON (${bucket}) taken_at, trim_scale(total_usd)::text AS total_usd, assets
      FROM balance_snapshot WHERE project_id = ${projectId} AND hour >= ${since}
      ORDER BY ${bucket}, hour DESC`;
    return rows.map(toPoint);
  },
});

export type SnapshotRepository = ReturnType<typeof createSnapshotRepository>;
