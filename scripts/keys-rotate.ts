/**
 * `npm run keys:rotate`: encrypts all secrets in the database under the current KEY_ENCRYPTION_KEY.
 * It may be interrupted and repeated, and may run while instances serve requests. Exits with 1
 * while any row still uses another key.
 * - `-- --check` changes nothing; exits with 0 when all previous keys and secrets may be removed
 * - `-- --signing` creates a new signing key for access tokens, and removes keys whose tokens have
 * all expired
 * - `-- --signing --remove KID` makes the service refuse tokens of this signing key from now on
 */
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { encryptedTablesOf } from "../lib/composition";
import type { Config } from "../lib/platform/config/env";
import { systemClock } from "../lib/core/clock";
import { createDatabase, type Database } from "../lib/platform/db/client";
import { countByAppSecret } from "../lib/trust/api-keys/repository";
import {
  ACCESS_TOKEN_SECONDS,
  addTokenKey,
  removeSpentTokenKeys,
  removeTokenKey,
} from "../lib/trust/auth/access-token";
import { checkKeys, rotateKeys } from "../lib/platform/encryption/rotation";
import { createKeyring, type Keyring } from "../lib/platform/encryption/service";
import { createSecrets } from "../lib/platform/encryption/application-secret";
import { configOf, findDatabase } from "./database";
import { runCommand } from "./command";

interface Work {
  readonly config: Config;
  readonly database: Database;
  readonly keyring: Keyring;
}

/**
 * Prints how many rows use each encryption key.
 * @returns whether no row uses another key than the current one
 */
const reportKeys = async ({ database, keyring }: Work): Promise<boolean> => {
  const uses = await checkKeys(keyring, encryptedTablesOf(database));
  console.log(`Current key: ${keyring.currentId}`);
  for (const { rows, kekId, count, is } of uses)
    console.log(`${rows}: ${String(count)} under ${kekId} (${is})`);
  const unknown = uses.filter(({ is }) => is === "unknown");
  for (const { rows, kekId } of unknown)
    console.error(
      `The key ${kekId} of ${rows} is not configured. Add it to KEY_ENCRYPTION_KEY_PREVIOUS, and run this again.`,
    );
  for (const kekId of keyring.ids.slice(1)) {
    const isUsed = uses.some((use) => use.kekId === kekId);
    console.log(
      `${kekId} ${isUsed ? "is still needed" : "may be removed from KEY_ENCRYPTION_KEY_PREVIOUS"}.`,
    );
  }
  const left = uses
    .filter(({ is }) => is === "previous")
    .reduce((sum, { count }) => sum + count, 0);
  if (left > 0)
    console.error(
      `${String(left)} rows are not under the current key. Run \`npm run keys:rotate\`; if it was just run, an instance still writes with an older configuration: restart it, then run this again.`,
    );
  return unknown.length === 0 && left === 0;
};

/**
 * Prints how many API keys are hashed under each APP_SECRET.
 * @returns whether all are hashed under the current one
 */
const reportApiKeys = async ({ config, database }: Work): Promise<boolean> => {
  const counts = await countByAppSecret(database.prisma, systemClock.now());
  const current = createSecrets(config.appSecret).id;
  const left = [...counts]
    .filter(([id]) => id !== current)
    .reduce((sum, [, count]) => sum + count, 0);
  console.log(
    left === 0
      ? "API keys: all are hashed under the current APP_SECRET."
      : `API keys: ${String(left)} were not used since APP_SECRET was changed. Without APP_SECRET_PREVIOUS they stop working.`,
  );
  return left === 0;
};

const rotate = async (work: Work): Promise<boolean> => {
  const tables = encryptedTablesOf(work.database);
  const onBatch = (table: string, encrypted: number): void =>
    console.log(`${table}: ${String(encrypted)} so far`);
  for (const { rows, encrypted } of await rotateKeys({
    keyring: work.keyring,
    tables,
    onBatch,
  }))
    console.log(`${rows}: ${String(encrypted)} encrypted anew`);
  return reportKeys(work);
};

const rotateSigning = async (
  { database, keyring }: Work,
  remove: string | undefined,
): Promise<boolean> => {
  const deps = { database, keyring, clock: systemClock };
  if (remove !== undefined) {
    const removed = await removeTokenKey(deps, remove);
    console.log(
      removed
        ? `Removed ${remove}: its tokens are refused within a minute.`
        : `There is no key ${remove}.`,
    );
    return removed;
  }
  console.log(`New tokens are signed by ${await addTokenKey(deps)}.`);
  for (const kid of await removeSpentTokenKeys(deps, ACCESS_TOKEN_SECONDS))
    console.log(`Removed ${kid}: its tokens have expired.`);
  console.log(
    "Run this again in an hour or later to remove the key before it, or name it with --remove to do so now.",
  );
  return true;
};

const main = async (): Promise<number> => {
  const options = {
    check: { type: "boolean" },
    signing: { type: "boolean" },
    remove: { type: "string" },
  } as const;
  const { values } = parseArgs({ options });
  if (existsSync(".env")) process.loadEnvFile(".env");
  const source = await findDatabase();
  const config = configOf(source.url);
  const database = createDatabase(source.url, { poolSize: 2 });
  const work = { config, database, keyring: createKeyring(config.keyEncryptionKeys) };
  try {
    if (values.signing === true) return (await rotateSigning(work, values.remove)) ? 0 : 1;
    if (values.check !== true) return (await rotate(work)) ? 0 : 1;
    const done = [await reportKeys(work), await reportApiKeys(work)];
    return done.includes(false) ? 1 : 0;
  } finally {
    await database.close();
    await source.stop();
  }
};

await runCommand(main);
