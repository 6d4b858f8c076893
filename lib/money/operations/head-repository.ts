import type { Database } from "@/lib/platform/db/client";
import type { Head } from "./legs/step";

interface HeadRow {
  readonly number: string | null;
  readonly timestamp: string | null;
  /** Time since the head was read from the chain; null when it was never read. */
  readonly age_ms: number | null;
}

// All times are those of the database's clock. One instance at a time may ask the chain, and only
// when the stored head is no longer fresh.
const CLAIM = `
  INSERT INTO chain_head AS h (chain_id, asker, asking_until) VALUES ($1, $2, now() + $3::float8 * interval '1 ms')
  ON CONFLICT (chain_id) DO UPDATE SET asker = EXCLUDED.asker, asking_until = EXCLUDED.asking_until
  WHERE (h.read_at IS NULL OR h.read_at <= now() - $4::float8 * interval '1 ms')
    AND (h.asking_until IS NULL OR h.asking_until <= now())
  RETURNING 1`;

const STORE = `
  UPDATE chain_head SET number = $3::numeric, "timestamp" = $4::numeric, read_at = clock_timestamp(), asking_until = NULL
  WHERE chain_id = $1 AND asker = $2`;

const READ = `
  SELECT number::text, "timestamp"::text, (extract(epoch FROM clock_timestamp() - read_at) * 1000)::float8 AS age_ms
  FROM chain_head WHERE chain_id = $1`;

/** The newest block of each chain, which one instance reads on behalf of all. */
export const createHeadRepository = ({ pool }: Pick<Database, "pool">) => ({
  /**
   * Claims the right to ask the chain for `leaseMs`.
   * @param asker identifies this claim, so that an instance whose lease has ended cannot store its
   * answer
   * @returns false when the stored head is fresh, or another instance is asking
   */
  claim: async (turn: {
    chainId: number;
    asker: string;
    leaseMs: number;
    freshMs: number;
  }): Promise<boolean> => {
    const values = [turn.chainId, turn.asker, turn.leaseMs, turn.freshMs];
    const { rowCount } = await pool.query({ name: "chain_head_claim", text: CLAIM, values });
    return rowCount === 1;
  },

  /** Stores the head and ends the claim, unless another instance has taken it over. */
  store: async (chainId: number, asker: string, { number, timestamp }: Head): Promise<void> => {
    const values = [chainId, asker, number.toString(), timestamp.toString()];
    await pool.query({ name: "chain_head_store", text: STORE, values });
  },

  /** Ends the claim without an answer, so that another instance may ask at once. */
  release: async (chainId: number, asker: string): Promise<void> => {
    await pool.query(
      "UPDATE chain_head SET asking_until = NULL WHERE chain_id = $1 AND asker = $2",
      [chainId, asker],
    );
  },

  /** The stored head; null when there is none yet. */
  read: async (chainId: number): Promise<{ head: Head; ageMs: number } | null> => {
    const { rows } = await pool.query<HeadRow>({
      name: "chain_head_read",
      text: READ,
      values: [chainId],
    });
    const [row] = rows;
    if (row?.number == null || row.timestamp === null || row.age_ms === null) return null;
    return {
      head: { number: BigInt(row.number), timestamp: BigInt(row.timestamp) },
      ageMs: row.age_ms,
    };
  },
});

export type HeadRepository = ReturnType<typeof createHeadRepository>;
