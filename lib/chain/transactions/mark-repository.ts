import { createBatcher } from "@/lib/core/batch";
import type { Database } from "@/lib/platform/db/client";
import { keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import { marks, type StoredTransaction, type TransactionStatus } from "./rows";

// Stores the statuses of transactions. Concurrent updates share one statement.

export interface Mined {
  readonly hash: `0x${string}`;
  readonly blockNumber: bigint;
}

interface Mark {
  readonly read: Pick<StoredTransaction, "id" | "hash">;
  readonly expected: readonly TransactionStatus[];
  readonly status: Exclude<TransactionStatus, "signed">;
  readonly mined: Mined | null;
  readonly at: Date;
}

const MARKS_MAX = 100;

const places = marks.pick("place");

/**
 * Stores the new statuses.
 * @returns the positions of the marks whose transactions were unchanged since they were read
 */
const storeMarks = async (
  db: Sql,
  rows: readonly RowOf<typeof marks>[],
): Promise<ReadonlySet<number>> => {
  // The rows are locked in the order of their ids, so that two batches cannot deadlock.
  const marked = await places.all(
    db,
    sql`
      WITH w AS MATERIALIZED (
        SELECT * FROM ${marks.list(rows, { isCounted: true, orderedBy: "id" })} AS v
      ), locked AS MATERIALIZED (
        SELECT w.place FROM w
        CROSS JOIN LATERAL (
          SELECT 1 FROM chain_transaction t
          WHERE t.id = w.id AND t.hash = w.hash AND w.expected ? t.status
          FOR NO KEY UPDATE
        ) AS found
      )
      UPDATE chain_transaction t SET
        status = w.status,
        mined_hash = w.mined_hash,
        block_number = w.block_number,
        updated_at = w.at,
        broadcast_at = CASE WHEN w.status = 'broadcast' THEN w.at ELSE t.broadcast_at END
      FROM w
      JOIN locked ON locked.place = w.place
      WHERE t.id = w.id
      RETURNING ${places.columns("w")}`,
  );
  return new Set(marked.map(({ place }) => place));
};

/**
 * Returns a function that stores a transaction's status if the transaction is unchanged since it
 * was read. The function returns whether it was stored.
 */
export const createMarks = ({
  pool,
}: Pick<Database, "pool">): ((mark: Mark) => Promise<boolean>) => {
  const db = keptSqlOn(pool);
  const { submit } = createBatcher({
    run: async (batch: readonly Mark[]) => {
      const rows = batch.map(({ read, expected, status, mined, at }, place) => ({
        place,
        id: read.id,
        hash: read.hash,
        expected: [...expected],
        status,
        minedHash: mined?.hash ?? null,
        blockNumber: mined?.blockNumber ?? null,
        at,
      }));
      const marked = await storeMarks(db, rows);
      return batch.map((_, place) => ({ isMarked: marked.has(place) }));
    },
    batchWeightMax: MARKS_MAX,
    lanes: 2,
  });
  return async (mark) => (await submit(mark)).isMarked;
};
