/**
 * `npm run screening:import -- FILE [--by NAME]`: imports a signed sanctions list. The signature
 * must be by one of the keys in SCREENING_LIST_KEYS, and the version must be higher than the stored
 * one. Every instance uses the new list within seconds.
 */
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { parseArgs } from "node:util";
import { systemClock } from "../lib/core/clock";
import { createDatabase } from "../lib/platform/db/client";
import { importList } from "../lib/trust/screening/import-list";
import { configOf, findDatabase } from "./database";
import { runCommand } from "./command";

const USAGE = "npm run screening:import -- FILE [--by NAME]";

const main = async (): Promise<void> => {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { by: { type: "string" } },
  });
  const [file] = positionals;
  if (file === undefined) throw new Error(USAGE);
  const text = readFileSync(file, "utf8");
  const source = await findDatabase();
  const database = createDatabase(source.url, { poolSize: 1 });
  try {
    const { listKeys: keys } = configOf(source.url).screening;
    const by = values.by ?? `operator:${userInfo().username}`;
    const { list, isNew } = await importList(
      { database, keys, clock: systemClock },
      { text, by },
    );
    const about = `${list.name} version ${String(list.version)}: ${String(list.entries.size)} addresses of ${list.source}`;
    console.log(
      `${about}, valid until ${list.validUntil.toISOString()}, signed by ${list.keyId}.`,
    );
    console.log(isNew ? "It was imported." : "It was imported before; nothing was changed.");
  } finally {
    await database.close();
    await source.stop();
  }
};

await runCommand(main);
