/** Notes the states of stored transactions that the network and the chain show; states of the same time share one statement. */
import { jsonRows } from "@/lib/db/json-rows";
import { createBatcher } from "@/lib/core/batch";
import type { Database } from "@/lib/db/client";
import { keptSqlOn } from "@/lib/db/sql";
import type { StoredTransaction, TransactionStatus } from "./stored-transaction";

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

const MARKED =
  'place int, id text, hash text, expected jsonb, status text, "minedHash" text, "blockNumber" bigint, at timestamptz';
// The rows are locked in the order of their ids, so that two sets never wait for each other.
const MARK = `
  WITH w AS MATERIALIZED (
    SELECT * FROM ${jsonRows("$1", MARKED, "id")} AS v
  ), locked AS MATERIALIZED (
    SELECT w.place FROM w CROSS JOIN LATERAL (
      SELECT 1 FROM chain_transaction t WHERE t.id = w.id AND t.hash = w.hash AND w.expected ? t.status FOR NO KEY UPDATE
    ) AS found
  )
  UPDATE chain_transaction t SET status = w.status, mined_hash = w."minedHash", block_number = w."blockNumber", updated_at = w.at,
    broadcast_at = CASE WHEN w.status = 'broadcast' THEN w.at ELSE t.broadcast_at END
  FROM w JOIN locked ON locked.place = w.place
  WHERE t.id = w.id RETURNING w.place`;

/** Notes the state of a transaction, if it is unchanged since it was read. @returns whether it was */
export const createMarks = ({ pool }: Pick<Database, "pool">): ((mark: Mark) => Promise<boolean>) => {
  const sql = keptSqlOn(pool);
  const { submit } = createBatcher({
    run: async (marks: readonly Mark[]) => {
      const rows = marks.map(({ read, expected, status, mined, at }, place) => ({
        ...{ place, id: read.id, hash: read.hash, expected, status, at },
        minedHash: mined?.hash ?? null,
        blockNumber: mined?.blockNumber.toString() ?? null,
      }));
      const marked = await sql.query<{ place: number }>(MARK, [JSON.stringify(rows)]);
      const places = new Set(marked.map(({ place }) => place));
      return marks.map((_, place) => ({ isMarked: places.has(place) }));
    },
    batchWeightMax: MARKS_MAX,
    lanes: 2,
  });
  return async (mark) => (await submit(mark)).isMarked;
};
