import fc from "fast-check";
import { expect, inject, test } from "vitest";
import { newId } from "@/lib/core/ids";
import { testDatabase } from "@/lib/dev/testing/database";
import {
  runAgainstModel,
  stepsArbitrary,
  type LedgerUnderTest,
} from "@/lib/dev/testing/ledger-model-run";
import { testLedger } from "@/lib/dev/testing/ledger";

const RUNS = inject("isLong") ? 30 : 10;
const COMMANDS = 200;
const GROUP_MAX = 16;

const { url } = await testDatabase();
let now = new Date();
const { ledger, pool, verify } = testLedger(url, { clock: { now: () => now } });

/** A new project with its own accounts in PostgreSQL. */
const serviceUnderTest = async (): Promise<LedgerUnderTest> => {
  const projectId = newId("project");
  const accounts = await Promise.all(
    ["usdc", "usdc", "usdc", "usdc", "usdc", "eth", "eth"].map(async (currency) => ({
      id: await ledger.openAccount({ projectId, currency, key: newId("event"), by: "model" }),
      currency,
    })),
  );
  return {
    projectId,
    accounts,
    setTime: (time) => (now = time),
    setStatus: async (accountId, status) => {
      await ledger.changeAccount({ projectId, accountId, to: { status } });
    },
    // One call for each command, in order; the service collects them into one batch.
    post: (commands) => Promise.all(commands.map((command) => ledger.post(command))),
    read: async () => {
      const { rows } = await pool.query<{ id: string; balance: string }>(
        "SELECT id, balance FROM ledger_account WHERE project_id = $1",
        [projectId],
      );
      return new Map(rows.map((row) => [`ga_${row.id}`, { balance: BigInt(row.balance) }]));
    },
  };
};

test(
  `${String(RUNS)} histories of ${String(COMMANDS)} commands, in batches over PostgreSQL, go as the model says`,
  { timeout: 120_000 },
  async () => {
    const seed = inject("testSeed") % 2 ** 31;
    console.log(`Ledger model over PostgreSQL: seed ${String(seed)}`);
    await fc.assert(
      fc.asyncProperty(stepsArbitrary(COMMANDS), async (steps) => {
        await runAgainstModel(await serviceUnderTest(), steps, GROUP_MAX);
      }),
      { numRuns: RUNS, seed },
    );
    const { figures, violations } = await verify();
    expect(violations).toEqual([]);
    expect(figures.reversals).toBeGreaterThan(RUNS);
    expect(figures.rejected).toBeGreaterThan(RUNS);
  },
);
