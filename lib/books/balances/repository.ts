import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { raw, sql } from "@/lib/platform/db/statement";
import { type HistoryPoint, historyPoints } from "./rows";

export type { HistoryPoint } from "./rows";

const HOUR_MS = 3_600_000;
/**
 * Up to this many days, a range has a point per hour. A longer one has a point per day, because a
 * chart cannot show more.
 */
const HOURLY_DAYS_MAX = 30;

export const createSnapshotRepository = ({ prisma }: Database) => {
  const db = sqlOf(prisma);

  return {
    /**
     * Stores the point in place of an earlier point of the same hour. A point without a total in US
     * dollars never replaces one with a total.
     */
    save: async (projectId: string, point: HistoryPoint): Promise<void> => {
      const hour = new Date(Math.floor(point.takenAt.getTime() / HOUR_MS) * HOUR_MS);
      await db.change(sql`
        INSERT INTO balance_snapshot AS known (project_id, hour, ${historyPoints.names})
        SELECT ${projectId}::text, ${hour}::timestamptz, ${historyPoints.names}
        FROM ${historyPoints.list([point])} AS taken
        ON CONFLICT (project_id, hour) DO UPDATE SET
          taken_at = EXCLUDED.taken_at,
          total_usd = EXCLUDED.total_usd,
          assets = EXCLUDED.assets
        WHERE known.taken_at < EXCLUDED.taken_at
          AND (EXCLUDED.total_usd IS NOT NULL OR known.total_usd IS NULL)`);
    },

    /** Points since a time, oldest first: one per hour, or one per day when `days` is above 30. */
    list: (projectId: string, since: Date, days: number): Promise<HistoryPoint[]> => {
      const bucket = raw(days <= HOURLY_DAYS_MAX ? "hour" : "date_trunc('day', hour, 'UTC')");
      return historyPoints.all(
        db,
        sql`
          SELECT DISTINCT ON (${bucket}) ${historyPoints.columns("s")}
          FROM balance_snapshot s
          WHERE s.project_id = ${projectId} AND s.hour >= ${since}::timestamptz
          ORDER BY ${bucket}, hour DESC`,
      );
    },
  };
};

export type SnapshotRepository = ReturnType<typeof createSnapshotRepository>;
