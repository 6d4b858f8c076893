import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { backUp, recordBackup } from "../lib/stack/postgres/backup";
import { startEmbeddedPostgres } from "../lib/stack/postgres/embedded-postgres";
import { commandError, defineCommand } from "./command";
import { DATABASE, dataDir } from "./database";

const OTHER_SERVER =
  "DATABASE_URL names a server of your own. Back it up with pgBackRest or pg_dump: docs/operations.md#backups.";
const NOT_IN_IT =
  "Not in it: secrets.json, .env, keys and the local chains. Keep KEY_ENCRYPTION_KEY and APP_SECRET at another place: without the first nobody\n" +
  "can move the money of managed wallets, and whoever has it and this folder can.";
const NOT_RECORDED =
  "The backup is complete, but its time was not recorded, so the alert CausewayBackupOld does not know of it:";

export const command = defineCommand({
  positionals: { text: "DIR", min: 1, max: 1 },
  options: {},
  environment: ["CAUSEWAY_DATA_DIR: the data of `npm start`; .data by default"],
  run: async ({ positionals: [target = ""], output }) => {
    if (process.env.DATABASE_URL) throw new Error(OTHER_SERVER);
    const folder = resolve(dataDir(), "postgres");
    if (!existsSync(`${folder}.json`)) throw new Error(`There is no database at ${folder}.`);
    const server = await startEmbeddedPostgres({ dataDir: folder });
    try {
      const manifest = await backUp({
        url: server.url(DATABASE),
        dataDir: server.dataDir,
        target: resolve(target),
      });
      const { files, startedAt } = manifest;
      // The backup is complete without its record.
      await recordBackup(server.url(DATABASE), manifest).catch((error: unknown) => {
        output.fault(`${NOT_RECORDED} ${commandError(error)}`);
      });
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      output.say(
        `${String(files.length)} files, ${(bytes / 2 ** 20).toFixed(1)} MB, are in ${resolve(target)}.`,
      );
      output.say(NOT_IN_IT);
      return {
        isDone: true,
        result: { directory: resolve(target), startedAt, files: files.length, bytes },
      };
    } finally {
      if (!server.adopted) await server.stop();
    }
  },
});
