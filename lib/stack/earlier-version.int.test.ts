import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, test, vi } from "vitest";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { freePort } from "@/lib/platform/os/ports";
import { afterFile } from "@/lib/dev/testing/after-file";
import { emptyDatabase } from "@/lib/dev/testing/database";
import { entryFile } from "@/lib/dev/testing/entry";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import { startEmbeddedPostgres } from "./postgres/embedded-postgres";
import { developmentSecrets } from "./secrets";

const root = fileURLToPath(new URL("../..", import.meta.url));
const DATABASE = "causeway";
const MADE_BY = "An earlier, unreleased version of Causeway made this database";
const RUN = `
const { runStack } = await import(${JSON.stringify(entryFile("stack"))});
process.exit(await runStack(JSON.parse(process.env.STACK_OPTIONS)));
`;

const { folder, remove } = await makeWorkspace();
afterFile(remove);
const earlier = join(folder, "migrations");
mkdirSync(join(earlier, "20261121000000_init"), { recursive: true });
writeFileSync(
  join(earlier, "20261121000000_init", "migration.sql"),
  "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7);",
);

vi.setConfig({ testTimeout: 120_000 });

interface Ended {
  readonly code: number;
  readonly errors: string;
}

const run = (args: readonly string[], variables: Record<string, string>): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { PATH: "/usr/bin:/bin", NODE_ENV: "test" as const, ...variables };
    const child = execFile(process.execPath, [...args], { cwd: root, env }, (_, __, errors) =>
      resolve({ code: child.exitCode ?? -1, errors }),
    );
  });

const npmStart = async (
  dataDir: string,
  environment: Record<string, string> = {},
): Promise<Ended> => {
  const PORT = String(await freePort());
  const options = { root, dataDir, environment: { ...environment, PORT }, dev: false };
  return run(["--input-type=module", "-e", RUN], { STACK_OPTIONS: JSON.stringify(options) });
};

/** The tables, their rows, and the history of the migrations. */
const contentOf = async (url: string): Promise<unknown> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query(
      "SELECT relname, relacl FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
    );
    const { rows: kept } = await client.query("SELECT id FROM kept");
    const { rows: history } = await client.query("SELECT * FROM _prisma_migrations");
    return { tables, kept, history };
  } finally {
    await client.end();
  }
};

/**
 * The files of the data folder except those of PostgreSQL, which change with each start of the
 * server.
 */
const filesOf = (dataDir: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(dataDir, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.startsWith("postgres") && statSync(join(dataDir, name)).isFile())
      .map((name) => [name, readFileSync(join(dataDir, name), "utf8")]),
  );

test("npm start refuses a data folder of an earlier, unreleased version in one sentence, and leaves it as it is", async () => {
  const dataDir = join(folder, "data");
  mkdirSync(join(dataDir, "chains"), { recursive: true });
  writeFileSync(join(dataDir, "chains", "31337.journal.0"), "kept");
  developmentSecrets(join(dataDir, "secrets.json"), {});
  const server = () => startEmbeddedPostgres({ dataDir: join(dataDir, "postgres") });
  const made = await server();
  await made.ensureDatabase(DATABASE);
  await made.ensureAppRole();
  await migrateDeploy(made.url(DATABASE), earlier);
  const content = await contentOf(made.url(DATABASE));
  await made.stop();
  const files = filesOf(dataDir);

  const { code, errors } = await npmStart(dataDir);
  expect(code).toBe(1);
  expect(errors.trim()).toBe(
    `${MADE_BY}, and this version cannot read it: \`npm run reset\` removes all data in ${dataDir} and begins anew, and \`CAUSEWAY_DATA_DIR=/path npm start\` begins in another folder.`,
  );
  expect(filesOf(dataDir)).toEqual(files);
  const again = await server();
  expect(await contentOf(again.url(DATABASE))).toEqual(content);
  await again.stop();
});

test("npm start and the command that migrates refuse such a database under DATABASE_URL, and leave it as it is", async () => {
  const { url } = await emptyDatabase();
  await migrateDeploy(url, earlier);
  const content = await contentOf(url);
  const sentence = `${MADE_BY}, and this version cannot read it: let DATABASE_URL name an empty database.`;

  const started = await npmStart(join(folder, "fresh"), { DATABASE_URL: url, DEVNET: "0" });
  expect(started).toEqual({ code: 1, errors: `\n${sentence}\n\n` });

  const secrets = developmentSecrets(join(folder, "secrets.json"), {});
  const migrated = await run([entryFile("causeway"), "migrate"], {
    ...secrets,
    DATABASE_URL: url,
  });
  expect(migrated).toEqual({
    code: 1,
    errors: `The database was not brought up to date: ${sentence}\n`,
  });
  expect(await contentOf(url)).toEqual(content);
});
