import { LRUCache } from "lru-cache";
import type { Database } from "@/lib/platform/db/client";
import { toBigInt, toDecimal } from "@/lib/platform/db/decimal";
import type { EvmAddress } from "@/lib/core/evm";

/** A balance of a treasury at a final block, in base units. */
export interface ReserveReading {
  /** Lower-case address, or `native`. */
  readonly token: string;
  readonly balanceBase: bigint;
  readonly blockNumber: bigint;
}

export interface ReserveReadings {
  /**
   * Stores readings for times when the chain does not answer. An unchanged balance is written every
   * half minute.
   */
  keep(
    wallet: EvmAddress,
    chainId: number,
    readings: readonly ReserveReading[],
    now: Date,
  ): Promise<void>;
  /** The stored readings of a wallet on a chain, by token, without those before `since`. */
  find(
    wallet: EvmAddress,
    chainId: number,
    since: Date,
  ): Promise<ReadonlyMap<string, ReserveReading>>;
}

const WRITTEN_EVERY_MS = 30_000;
const REMEMBERED_MAX = 50_000;

/** Rows of `reserve_reading`. */
export const createReserveReadings = ({ prisma }: Database): ReserveReadings => {
  const written = new LRUCache<string, bigint>({ max: REMEMBERED_MAX, ttl: WRITTEN_EVERY_MS });

  return {
    keep: async (wallet, chainId, readings, now) => {
      const nameOf = ({ token }: ReserveReading): string => `${wallet}:${String(chainId)}:${token}`;
      const due = readings.filter(
        (reading) => written.get(nameOf(reading)) !== reading.balanceBase,
      );
      if (due.length === 0) return;
      const balances = due.map(({ balanceBase }) => toDecimal(balanceBase).toString());
      await prisma.$executeRaw`
        INSERT INTO reserve_reading (wallet_address, chain_id, token, balance_base, block_number, read_at)
        SELECT ${wallet}, ${chainId}::int, token, balance::numeric, block, ${now}
        FROM unnest(${due.map(({ token }) => token)}::text[], ${balances}::text[],
          ${due.map(({ blockNumber }) => blockNumber)}::bigint[]) AS read (token, balance, block)
        ORDER BY token
        ON CONFLICT (wallet_address, chain_id, token) DO UPDATE
        SET balance_base = EXCLUDED.balance_base, block_number = EXCLUDED.block_number, read_at = EXCLUDED.read_at
        WHERE reserve_reading.read_at < EXCLUDED.read_at`;
      for (const reading of due) written.set(nameOf(reading), reading.balanceBase);
    },

    find: async (wallet, chainId, since) => {
      const rows = await prisma.reserveReading.findMany({
        where: { walletAddress: wallet, chainId, readAt: { gte: since } },
      });
      return new Map(
        rows.map(({ token, balanceBase, blockNumber }) => [
          token,
          { token, balanceBase: toBigInt(balanceBase), blockNumber },
        ]),
      );
    },
  };
};
