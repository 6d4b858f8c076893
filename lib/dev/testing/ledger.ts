import pg from "pg";
import { systemClock, type Clock } from "@/lib/core/clock";
import { newId } from "@/lib/core/ids";
import { createLedgerRepository } from "@/lib/books/ledger/repository";
import { createLedgerService, type LedgerService } from "@/lib/books/ledger/service";
import { verifyLedger, type LedgerReport } from "@/lib/books/ledger/verify";
import { afterFile } from "./after-file";

export interface TestLedger {
  readonly ledger: LedgerService;
  /** Connections as the database's owner. */
  readonly pool: pg.Pool;
  readonly projectId: string;
  verify(): Promise<LedgerReport>;
  open(currency: string, fundBase: bigint): Promise<string>;
}

/**
 * A ledger on this database with a separate project, as one instance of the app has it. It is
 * closed after the test file.
 */
export const testLedger = (
  url: string,
  options: { clock?: Clock; poolSize?: number; patienceMs?: number } = {},
): TestLedger => {
  const clock = options.clock ?? systemClock;
  const repository = createLedgerRepository(
    url,
    options.poolSize === undefined ? {} : { poolSize: options.poolSize },
  );
  const ledger = createLedgerService({
    repository,
    clock,
    ...(options.patienceMs === undefined ? {} : { patienceMs: options.patienceMs }),
  });
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on("error", () => undefined);
  const projectId = newId("project");
  afterFile(async () => {
    await ledger.close();
    await pool.end();
  });
  return {
    ledger,
    pool,
    projectId,
    verify: () => verifyLedger(pool),
    open: async (currency, fundBase) => {
      const key = newId("event");
      const id = await ledger.openAccount({ projectId, currency, key, by: "test" });
      if (fundBase > 0n)
        await ledger.fund({
          projectId,
          to: id,
          amountBase: fundBase,
          currency,
          liabilitiesMaxBase: null,
          key,
          by: "test",
        });
      return id;
    },
  };
};

/** Pseudo-random numbers that repeat with the same seed (mulberry32). */
export const seededRandom = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
};
