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
import { defineCommand, NEEDS, type Output, UsageError } from "./command";
import { configOf, findDatabase } from "./database";

interface Work {
  readonly config: Config;
  readonly database: Database;
  readonly keyring: Keyring;
  readonly output: Output;
}

/** Counts the rows of each encryption key, and prints them. */
const reportKeys = async ({ database, keyring, output }: Work) => {
  const uses = await checkKeys(keyring, encryptedTablesOf(database));
  output.say(`Current key: ${keyring.currentId}`);
  for (const { rows, kekId, count, is } of uses)
    output.say(`${rows}: ${String(count)} under ${kekId} (${is})`);
  const unknown = uses.filter(({ is }) => is === "unknown");
  for (const { rows, kekId } of unknown)
    output.fault(
      `The key ${kekId} of ${rows} is not configured. Add it to KEY_ENCRYPTION_KEY_PREVIOUS, and run this again.`,
    );
  const previousKeys = keyring.ids.slice(1).map((kekId) => ({
    kekId,
    isNeeded: uses.some((use) => use.kekId === kekId),
  }));
  for (const { kekId, isNeeded } of previousKeys)
    output.say(
      `${kekId} ${isNeeded ? "is still needed" : "may be removed from KEY_ENCRYPTION_KEY_PREVIOUS"}.`,
    );
  const left = uses
    .filter(({ is }) => is === "previous")
    .reduce((sum, { count }) => sum + count, 0);
  if (left > 0)
    output.fault(
      `${String(left)} rows are not under the current key. Run \`npm run keys:rotate\`; if it was just run, an instance still writes with an older configuration: restart it, then run this again.`,
    );
  const isDone = unknown.length === 0 && left === 0;
  return { isDone, result: { currentKey: keyring.currentId, uses, previousKeys } };
};

/** Counts the API keys that are not hashed under the current APP_SECRET, and prints the number. */
const countOldApiKeys = async ({ config, database, output }: Work): Promise<number> => {
  const counts = await countByAppSecret(database.prisma, systemClock.now());
  const current = createSecrets(config.appSecret).id;
  const left = [...counts]
    .filter(([id]) => id !== current)
    .reduce((sum, [, count]) => sum + count, 0);
  output.say(
    left === 0
      ? "API keys: all are hashed under the current APP_SECRET."
      : `API keys: ${String(left)} were not used since APP_SECRET was changed. Without APP_SECRET_PREVIOUS they stop working.`,
  );
  return left;
};

const check = async (work: Work) => {
  const { isDone, result } = await reportKeys(work);
  const oldApiKeys = await countOldApiKeys(work);
  return { isDone: isDone && oldApiKeys === 0, result: { ...result, oldApiKeys } };
};

const rotate = async (work: Work) => {
  const { database, keyring, output } = work;
  const encrypted = await rotateKeys({
    keyring,
    tables: encryptedTablesOf(database),
    onBatch: (table, count) => output.progress(`${table}: ${String(count)} so far`),
  });
  for (const { rows, encrypted: count } of encrypted)
    output.say(`${rows}: ${String(count)} encrypted anew`);
  const { isDone, result } = await reportKeys(work);
  return { isDone, result: { ...result, encrypted } };
};

const rotateSigning = async (
  { database, keyring, output }: Work,
  remove: string | undefined,
) => {
  const deps = { database, keyring, clock: systemClock };
  if (remove !== undefined) {
    const isRemoved = await removeTokenKey(deps, remove);
    output.say(
      isRemoved
        ? `Removed ${remove}: its tokens are refused within a minute.`
        : `There is no key ${remove}.`,
    );
    return { isDone: isRemoved, result: { removed: isRemoved ? [remove] : [] } };
  }
  const signingKey = await addTokenKey(deps);
  output.say(`New tokens are signed by ${signingKey}.`);
  const removed = await removeSpentTokenKeys(deps, ACCESS_TOKEN_SECONDS);
  for (const kid of removed) output.say(`Removed ${kid}: its tokens have expired.`);
  output.say(
    "Run this again in an hour or later to remove the key before it, or name it with --remove to do so now.",
  );
  return { isDone: true, result: { signingKey, removed } };
};

export const command = defineCommand({
  options: {
    check: {
      type: "boolean",
      about: "changes nothing; says whether all previous keys and secrets may be removed",
    },
    signing: {
      type: "boolean",
      about:
        "creates a new signing key for access tokens, and removes keys whose tokens have all expired",
    },
    remove: {
      type: "string",
      value: "KID",
      about: "with --signing: refuses tokens of this signing key from now on",
    },
  },
  environment: [NEEDS.database, NEEDS.service],
  notDone: "rows still use another key, or there is no such signing key",
  run: async ({ values, output }) => {
    const { check: isCheck = false, signing = false, remove } = values;
    if (isCheck && signing) throw new UsageError("Choose one of --check and --signing.");
    if (remove !== undefined && !signing) throw new UsageError("--remove needs --signing.");
    const source = await findDatabase();
    const config = configOf(source.url);
    const database = createDatabase(source.url, { poolSize: 2 });
    const keyring = createKeyring(config.keyEncryptionKeys);
    const work = { config, database, keyring, output };
    try {
      if (signing) return await rotateSigning(work, remove);
      return await (isCheck ? check(work) : rotate(work));
    } finally {
      await database.close();
      await source.stop();
    }
  },
});
