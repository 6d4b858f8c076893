import { LRUCache } from "lru-cache";
import type { EvmAddress } from "@/lib/core/evm";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { type ReserveReading, reserveReadings } from "./rows";

export type { ReserveReading } from "./rows";

export interface ReserveReadings {
  /**
   * Stores readings for times when the chain does not answer. An unchanged balance is written only
   * every half minute.
   */
  keep(
    wallet: EvmAddress,
    chainId: number,
    readings: readonly ReserveReading[],
    now: Date,
  ): Promise<void>;
  /** The stored readings of a wallet on a chain since `since`, by token. */
  find(
    wallet: EvmAddress,
    chainId: number,
    since: Date,
  ): Promise<ReadonlyMap<string, ReserveReading>>;
}

const WRITTEN_EVERY_MS = 30_000;
const REMEMBERED_MAX = 50_000;

export const createReserveReadings = ({ prisma }: Database): ReserveReadings => {
  const db = sqlOf(prisma);
  const written = new LRUCache<string, bigint>({ max: REMEMBERED_MAX, ttl: WRITTEN_EVERY_MS });

  return {
    keep: async (wallet, chainId, readings, now) => {
      const nameOf = ({ token }: ReserveReading): string =>
        `${wallet}:${String(chainId)}:${token}`;
      const due = readings.filter(
        (reading) => written.get(nameOf(reading)) !== reading.balanceBase,
      );
      if (due.length === 0) return;
      await db.change(sql`
        INSERT INTO reserve_reading (wallet_address, chain_id, read_at, ${reserveReadings.names})
        SELECT ${wallet}::text, ${chainId}::int, ${now}::timestamptz, ${reserveReadings.names}
        FROM ${reserveReadings.list(due)} AS reading
        ORDER BY token
        ON CONFLICT (wallet_address, chain_id, token) DO UPDATE SET
          balance_base = EXCLUDED.balance_base,
          block_number = EXCLUDED.block_number,
          read_at = EXCLUDED.read_at
        WHERE reserve_reading.read_at < EXCLUDED.read_at`);
      for (const reading of due) written.set(nameOf(reading), reading.balanceBase);
    },

    find: async (wallet, chainId, since) => {
      const found = await reserveReadings.all(
        db,
        sql`
          SELECT ${reserveReadings.columns("r")} FROM reserve_reading r
          WHERE r.wallet_address = ${wallet}
            AND r.chain_id = ${chainId}::int
            AND r.read_at >= ${since}::timestamptz`,
      );
      return new Map(found.map((reading) => [reading.token, reading]));
    },
  };
};
