import { createBatcher } from "@/lib/core/batch";
import type { Database } from "@/lib/platform/db/client";
import { keptSqlOn, type Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import type { RowOf } from "@/lib/platform/db/table";
import { marks, type StoredTransaction, type TransactionStatus } from "./rows";

// Records the states of stored transactions on the network and the chain. Concurrent updates share
// one statement.

/** The version that was mined. */
export interface Mined {
  readonly hash: `0x${string}`;
  readonly blockNumber: bigint;
}

interface Mark {
  readonly read: Pick<StoredTransaction, "id" | "hash">;
  /** The states that the transaction may be in. */
  readonly expected: readonly TransactionStatus[];
  readonly status: Exclude<TransactionStatus, "signed">;
  readonly mined: Mined | null;
  readonly at: Date;
}

const MARKS_MAX = 100;

const places = marks.pick("place");

/** @returns the places of the marks whose transactions were unchanged since they were read */
const storeMarks = async (
  db: Sql,
  rows: readonly RowOf<typeof marks>[],
): Promise<ReadonlySet<number>> => {
  // The rows are locked in the order of their ids, so that two sets cannot deadlock.
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
 * Records the state of a transaction, if it is unchanged since it was read.
 * @returns whether it was recorded
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
