/**
 * `npm run ledger:verify`: recomputes the balances of the whole ledger. Prints a sentence for each
 * fault, and exits with 1 when there is one.
 */
import { existsSync } from "node:fs";
import pg from "pg";
import { verifyLedger } from "../lib/books/ledger/verify";
import { findDatabase } from "./database";
import { runCommand } from "./command";

const main = async (): Promise<number> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const source = await findDatabase();
  const pool = new pg.Pool({ connectionString: source.url, max: 1 });
  try {
    const started = performance.now();
    const { figures, violations } = await verifyLedger(pool);
    const { liabilities, ...counts } = figures;
    for (const [name, count] of Object.entries(counts))
      console.log(`${name.padEnd(14)}${String(count)}`);
    for (const [currency, owed] of Object.entries(liabilities))
      console.log(`owed ${currency.padEnd(9)}${owed}`);
    for (const violation of violations) console.error(violation);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `${violations.length === 0 ? "The ledger is whole" : "The ledger is BROKEN"} (${seconds} s).`,
    );
    return violations.length === 0 ? 0 : 1;
  } finally {
    await pool.end();
    await source.stop();
  }
};

await runCommand(main);
