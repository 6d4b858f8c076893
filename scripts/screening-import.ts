// The signature must be by one of the keys in SCREENING_LIST_KEYS, and the version must be higher
// than the stored one.
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { systemClock } from "../lib/core/clock";
import { createDatabase } from "../lib/platform/db/client";
import { importList } from "../lib/trust/screening/import-list";
import { defineCommand, NEEDS } from "./command";
import { configOf, findDatabase } from "./database";

export const command = defineCommand({
  positionals: { text: "FILE", min: 1, max: 1 },
  options: {
    by: {
      type: "string",
      value: "NAME",
      about: "who imports it, for the audit log; operator:<user> by default",
    },
  },
  environment: [NEEDS.database, NEEDS.service, "SCREENING_LIST_KEYS: who may sign"],
  run: async ({ positionals: [file = ""], values, output }) => {
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
      output.say(
        `${about}, valid until ${list.validUntil.toISOString()}, signed by ${list.keyId}.`,
      );
      output.say(isNew ? "It was imported." : "It was imported before; nothing was changed.");
      const { name, version, source: publisher, validUntil, keyId } = list;
      return {
        isDone: true,
        result: {
          name,
          version,
          source: publisher,
          addresses: list.entries.size,
          validUntil,
          keyId,
          isNew,
        },
      };
    } finally {
      await database.close();
      await source.stop();
    }
  },
});
