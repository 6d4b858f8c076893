/**
 * `npm run archive`: writes the events, deliveries and ledger of a closed month to files, and
 * deletes the rows that the service does not need any more. It also restores or checks such an
 * archive.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  archiveMonth,
  checkMonth,
  restoreMonth,
  type ArchivedRows,
} from "../lib/platform/db/archive/archive";
import { dataDir, findDatabase } from "./database";
import { runCommand } from "./command";

const USAGE = `npm run archive -- --month 2026-01 [--directory DIR] [--restore | --check]
  --directory   the folder of all archives; .data/archive by default
  --restore     brings the month back from its files
  --check       compares the files with their hashes, and the ledger with the files`;

const options = {
  month: { type: "string" },
  directory: { type: "string" },
  restore: { type: "boolean" },
  check: { type: "boolean" },
} as const;

const show = (rows: readonly ArchivedRows[], what: string): void => {
  for (const { table, rows: count, moved } of rows)
    console.log(
      `${table.padEnd(20)}${String(count).padStart(12)} rows in the file${String(moved).padStart(12)} ${what}`,
    );
};

const main = async (): Promise<boolean> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { month, directory, restore = false, check = false } = parseArgs({ options }).values;
  if (month === undefined || (restore && check)) throw new Error(USAGE);
  const source = await findDatabase();
  try {
    const request = {
      url: source.ownerUrl,
      month,
      directory: resolve(directory ?? join(dataDir(), "archive")),
    };
    if (check) {
      const faults = await checkMonth(request);
      for (const fault of faults) console.error(fault);
      if (faults.length === 0)
        console.log(`The files of ${month} are whole, and the ledger is as they are.`);
      return faults.length === 0;
    }
    if (restore) show(await restoreMonth(request), "brought back");
    else show(await archiveMonth(request), "removed");
    return true;
  } finally {
    await source.stop();
  }
};

await runCommand(async () => ((await main()) ? 0 : 1));
