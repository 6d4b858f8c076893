import { join, resolve } from "node:path";
import { restoreBackup } from "../lib/stack/postgres/restore";
import { defineCommand } from "./command";
import { DATABASE, dataDir } from "./database";

export const command = defineCommand({
  positionals: { text: "DIR", min: 1, max: 1 },
  options: {
    to: {
      type: "string",
      value: "DATA_DIR",
      about: "the new data folder; CAUSEWAY_DATA_DIR by default",
    },
  },
  environment: ["CAUSEWAY_DATA_DIR: the data of `npm start`; .data by default"],
  run: async ({ positionals: [from = ""], values, output }) => {
    const to = resolve(values.to ?? dataDir());
    const { startedAt } = await restoreBackup({
      from: resolve(from),
      dataDir: join(to, "postgres"),
      database: DATABASE,
    });
    output.say(`The backup of ${startedAt} is restored to ${to}. Signing is off.`);
    output.say(
      "Put secrets.json, or the variables with the same keys, beside it. Then start Causeway and run `npm run reconcile`.",
    );
    return { isDone: true, result: { directory: to, startedAt } };
  },
});
