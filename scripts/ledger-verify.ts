import pg from "pg";
import { verifyLedger } from "../lib/books/ledger/verify";
import { defineCommand, NEEDS } from "./command";
import { findDatabase } from "./database";

export const command = defineCommand({
  options: {},
  environment: [NEEDS.database],
  notDone: "the ledger has a fault",
  run: async ({ output }) => {
    const source = await findDatabase();
    const pool = new pg.Pool({ connectionString: source.url, max: 1 });
    try {
      const started = performance.now();
      const { figures, violations } = await verifyLedger(pool);
      const { liabilities, ...counts } = figures;
      for (const [name, count] of Object.entries(counts))
        output.say(`${name.padEnd(14)}${String(count)}`);
      for (const [currency, owed] of Object.entries(liabilities))
        output.say(`owed ${currency.padEnd(9)}${owed}`);
      for (const violation of violations) output.fault(violation);
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      const isWhole = violations.length === 0;
      output.say(`${isWhole ? "The ledger is whole" : "The ledger is BROKEN"} (${seconds} s).`);
      return { isDone: isWhole, result: { isWhole, ...figures, violations } };
    } finally {
      await pool.end();
      await source.stop();
    }
  },
});
