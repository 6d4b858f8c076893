import type { Database } from "@/lib/platform/db/client";
import { keptSqlOn } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { base, type Column, nullable, table } from "@/lib/platform/db/table";
import type { Head } from "./legs/step";

const milliseconds: Column<number> = {
  type: "float8",
  select: (name) => `${name}::float8`,
  read: (stored) => stored as number,
  write: (value) => value,
};

/**
 * Table `chain_head`: the newest block of each chain. `number` and `timestamp` are null until the
 * chain has been read.
 */
const heads = table({
  number: nullable(base),
  timestamp: nullable(base),
  /** Milliseconds since the chain returned this head. */
  ageMs: nullable(milliseconds),
});

// All times are from the clock of the database. Only one instance at a time may query a chain, and
// only when the stored head is no longer fresh.

/** The newest block of each chain, shared by all instances. */
export const createHeadRepository = ({ pool }: Pick<Database, "pool">) => {
  const db = keptSqlOn(pool);
  return {
    /**
     * Claims the right to query the chain for `leaseMs`.
     * @param asker identifies this claim, so that an instance whose lease has ended cannot store
     * its result
     * @returns false when the stored head is fresh, or another instance has the lease
     */
    claim: async (turn: {
      chainId: number;
      asker: string;
      leaseMs: number;
      freshMs: number;
    }): Promise<boolean> => {
      const claimed = await db.change(sql`
        INSERT INTO chain_head AS h (chain_id, asker, asking_until)
        VALUES (
          ${turn.chainId}::int,
          ${turn.asker},
          now() + ${turn.leaseMs}::float8 * interval '1 ms'
        )
        ON CONFLICT (chain_id) DO UPDATE SET
          asker = EXCLUDED.asker,
          asking_until = EXCLUDED.asking_until
        WHERE (h.read_at IS NULL OR h.read_at <= now() - ${turn.freshMs}::float8 * interval '1 ms')
          AND (h.asking_until IS NULL OR h.asking_until <= now())
        RETURNING 1`);
      return claimed === 1;
    },

    /** Stores the head and ends the claim, unless another instance has taken the claim over. */
    store: async (
      chainId: number,
      asker: string,
      { number, timestamp }: Head,
    ): Promise<void> => {
      await db.change(sql`
        UPDATE chain_head SET
          number = ${number}::numeric,
          "timestamp" = ${timestamp}::numeric,
          read_at = clock_timestamp(),
          asking_until = NULL
        WHERE chain_id = ${chainId}::int AND asker = ${asker}`);
    },

    /**
     * Ends the claim without a result, so that another instance can query the chain immediately.
     */
    release: async (chainId: number, asker: string): Promise<void> => {
      await db.change(sql`
        UPDATE chain_head SET asking_until = NULL
        WHERE chain_id = ${chainId}::int AND asker = ${asker}`);
    },

    read: async (chainId: number): Promise<{ head: Head; ageMs: number } | null> => {
      const found = await heads.first(
        db,
        sql`
          SELECT ${heads.columns("h")}
          FROM (
            SELECT number, "timestamp",
              extract(epoch FROM clock_timestamp() - read_at) * 1000 AS age_ms
            FROM chain_head
            WHERE chain_id = ${chainId}::int
          ) AS h`,
      );
      if (found === null) return null;
      const { number, timestamp, ageMs } = found;
      if (number === null || timestamp === null || ageMs === null) return null;
      return { head: { number, timestamp }, ageMs };
    },
  };
};

export type HeadRepository = ReturnType<typeof createHeadRepository>;
