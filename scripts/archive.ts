import { join, resolve } from "node:path";
import {
  archiveMonth,
  checkMonth,
  restoreMonth,
  type ArchivedRows,
} from "../lib/platform/db/archive/archive";
import { defineCommand, NEEDS, type Output, UsageError } from "./command";
import { dataDir, findDatabase } from "./database";

const show = (output: Output, rows: readonly ArchivedRows[], what: string): void => {
  for (const { table, rows: count, moved } of rows)
    output.say(
      `${table.padEnd(20)}${String(count).padStart(12)} rows in the file${String(moved).padStart(12)} ${what}`,
    );
};

export const command = defineCommand({
  options: {
    month: { type: "string", value: "2026-01", about: "the closed month, in UTC; required" },
    directory: {
      type: "string",
      value: "DIR",
      about: "the folder of all archives; .data/archive by default",
    },
    restore: { type: "boolean", about: "brings the month back from its files" },
    check: {
      type: "boolean",
      about: "compares the files with their hashes, and the ledger with the files",
    },
  },
  environment: [NEEDS.database, NEEDS.owner],
  notDone: "--check found a difference",
  run: async ({ values, output }) => {
    const { month, directory, restore = false, check = false } = values;
    if (month === undefined) throw new UsageError("Name a month with --month.");
    if (restore && check) throw new UsageError("Choose one of --restore and --check.");
    const source = await findDatabase();
    try {
      const request = {
        url: source.ownerUrl,
        month,
        directory: resolve(directory ?? join(dataDir(), "archive")),
      };
      if (check) {
        const faults = await checkMonth(request);
        for (const fault of faults) output.fault(fault);
        if (faults.length === 0)
          output.say(`The files of ${month} are whole, and the ledger is as they are.`);
        return { isDone: faults.length === 0, result: { month, faults } };
      }
      const tables = await (restore ? restoreMonth(request) : archiveMonth(request));
      show(output, tables, restore ? "brought back" : "removed");
      return { isDone: true, result: { month, tables } };
    } finally {
      await source.stop();
    }
  },
});
