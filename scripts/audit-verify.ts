/**
 * `npm run audit:verify`: checks the audit log against its hash chains. Exit code 1 and a sentence for each row that was changed,
 * removed or moved.
 *
 *   -- --save FILE    writes the head of each chain down; keep the file where nobody with the database can write
 *   -- --since FILE   compares with heads that were written down before
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import pg from "pg";
import { z } from "zod";
import { sqlOn } from "../lib/db/sql";
import { verifyAudit } from "../lib/modules/audit/verify";
import { createSecrets } from "../lib/modules/encryption/application-secret";
import { configOf, findDatabase } from "./database";

const savedHeads = z.record(z.string(), z.object({ seq: z.number().int().nonnegative(), hash: z.string() }));

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options: { save: { type: "string" }, since: { type: "string" } } });
  if (existsSync(".env")) process.loadEnvFile(".env");
  const since = values.since === undefined ? {} : savedHeads.parse(JSON.parse(readFileSync(values.since, "utf8")));
  const source = await findDatabase();
  const pool = new pg.Pool({ connectionString: source.url, max: 1 });
  try {
    const config = configOf(source.url);
    const started = performance.now();
    const report = await verifyAudit(sqlOn(pool), createSecrets(config.appSecret, config.appSecretPrevious), since);
    console.log(
      `chains   ${String(report.chains)}\nrows     ${String(report.rows)}\nwaiting  ${String(report.waiting)}`,
    );
    for (const violation of report.violations) console.error(violation);
    if (values.save !== undefined) writeFileSync(values.save, `${JSON.stringify(report.heads, null, 2)}\n`);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const isWhole = report.violations.length === 0;
    console.log(`${isWhole ? "The audit log is whole" : "The audit log was CHANGED"} (${seconds} s).`);
    return isWhole ? 0 : 1;
  } finally {
    await pool.end();
    await source.stop();
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
