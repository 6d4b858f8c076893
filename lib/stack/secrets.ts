import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DEVELOPMENT_SECRET_PREFIX } from "@/lib/platform/config/values";

const KEY_BYTES = 32;

const random = (): string => randomBytes(KEY_BYTES).toString("hex");

/** For each secret of a development stack, the function that generates it. */
const MAKERS = {
  APP_SECRET: () => `${DEVELOPMENT_SECRET_PREFIX}${random()}`,
  NEXTAUTH_SECRET: () => `${DEVELOPMENT_SECRET_PREFIX}${random()}`,
  KEY_ENCRYPTION_KEY: () => `${DEVELOPMENT_SECRET_PREFIX}${random()}`,
  EXECUTOR_PRIVATE_KEY: () => `${DEVELOPMENT_SECRET_PREFIX}0x${random()}`,
  VAPID_PRIVATE_KEY: () =>
    `${DEVELOPMENT_SECRET_PREFIX}${randomBytes(KEY_BYTES).toString("base64url")}`,
} as const;

type SecretName = keyof typeof MAKERS;
export type Secrets = Readonly<Record<SecretName, string>>;

const NAMES = Object.keys(MAKERS) as SecretName[];

const readStored = (file: string): Partial<Record<string, string>> => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Partial<Record<string, string>>;
  } catch (error) {
    // Replacing unreadable secrets by new ones would make every managed key unreadable for ever.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw new Error(`${file} cannot be read. Mend it, or \`npm run reset\` to start afresh.`, {
      cause: error,
    });
  }
};

/**
 * The secrets of a development stack. Secrets of the environment have priority. The other secrets
 * are generated once and stored in `file` (mode 600).
 */
export const developmentSecrets = (
  file: string,
  environment: Readonly<Record<string, string | undefined>>,
): Secrets => {
  const stored = readStored(file);
  const missing = NAMES.filter((name) => !stored[name]);
  for (const name of missing) stored[name] = MAKERS[name]();
  if (missing.length > 0) {
    mkdirSync(dirname(file), { recursive: true });
    // Written completely or not at all, because a kill during the write must not lose the keys.
    writeFileSync(`${file}.new`, `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  // An empty variable counts as unset.
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== ""),
  );
  const pick = (name: SecretName): string => given[name] ?? stored[name] ?? "";
  return {
    APP_SECRET: pick("APP_SECRET"),
    NEXTAUTH_SECRET: pick("NEXTAUTH_SECRET"),
    KEY_ENCRYPTION_KEY: pick("KEY_ENCRYPTION_KEY"),
    EXECUTOR_PRIVATE_KEY: pick("EXECUTOR_PRIVATE_KEY"),
    VAPID_PRIVATE_KEY: pick("VAPID_PRIVATE_KEY"),
  };
};
