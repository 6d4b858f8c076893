/** Runs the built commands where only the packages of a production install can be found. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { emptyDatabase, testDatabase } from "@/lib/dev/testing/database";
import { bundleInto } from "./build.mjs";
import { COMMANDS } from "./command-table";

const ROOT = resolve(import.meta.dirname, "..");
const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};
const base = mkdtempSync(join(tmpdir(), "causeway-commands-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Links a file or folder of the project into another folder. */
const link = (folder: string, path: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  symlinkSync(join(ROOT, path), join(folder, path));
};

/** Makes a folder with the built commands, the migrations, the chains and these packages. */
const install = (name: string, packages: readonly string[]): string => {
  const folder = join(base, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  cpSync(join(base, "dist"), join(folder, "dist"), { recursive: true });
  for (const path of packages.map((one) => `node_modules/${one}`)) link(folder, path);
  link(folder, "prisma/migrations");
  link(folder, "lib/platform/config/chains");
  return folder;
};

await bundleInto(["causeway"], join(base, "dist"));
const production = install("production", Object.keys(dependencies));
const [{ url }, empty] = await Promise.all([testDatabase(), emptyDatabase()]);

/** Runs the program causeway in a folder. */
const causeway = (
  args: readonly string[],
  variables: Record<string, string> = {},
  folder = production,
) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["dist/causeway.js", ...args],
    {
      cwd: folder,
      encoding: "utf8",
      env: {
        PATH: dirname(process.execPath),
        NODE_ENV: "test",
        CAUSEWAY_DATA_DIR: join(base, "data"),
        ...variables,
      },
    },
  );
  return { code: status, stdout, stderr };
};

/** Parses stdout, which has exactly one JSON document in one line. */
const documentOf = (stdout: string): unknown => {
  expect(stdout.trimEnd()).not.toContain("\n");
  return JSON.parse(stdout);
};

test("causeway lists every command, without arguments too", () => {
  const help = causeway(["--help"]);
  expect([help.code, help.stderr]).toEqual([0, ""]);
  for (const name of Object.keys(COMMANDS)) expect(help.stdout).toContain(`  ${name} `);
  expect(causeway([])).toEqual(help);
});

test.each(Object.keys(COMMANDS))(
  "%s --help prints its usage without development packages, and it refuses an unknown option with 2",
  (name) => {
    const help = causeway([name, "--help"]);
    expect([help.code, help.stderr]).toEqual([0, ""]);
    expect(help.stdout).toContain(`Usage: node dist/causeway.js ${name}`);
    expect(help.stdout).toContain("--json");
    const wrong = causeway([name, "--no-such-option"]);
    expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
    expect(wrong.stderr).toContain("--no-such-option");
    expect(wrong.stderr).toContain(help.stdout.trimEnd());
  },
);

test("an unknown command ends with 2 and the list of commands, and with --json with an error on stdout", () => {
  const wrong = causeway(["mend"]);
  expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
  expect(wrong.stderr).toContain("There is no command mend.\n\nUsage: ");
  const json = causeway(["toString", "--json"]);
  expect([json.code, json.stderr]).toEqual([2, ""]);
  expect(documentOf(json.stdout)).toEqual({ error: "There is no command toString." });
});

test("migrate needs the database's URL and three packages, and names what it applied", () => {
  const bare = install("bare", ["pg", "pino", "zod"]);
  const variables = { DATABASE_URL: empty.url };
  const names = readdirSync(join(ROOT, "prisma/migrations")).filter(
    (name) => !name.endsWith(".toml"),
  );
  const first = causeway(["migrate", "--json"], variables, bare);
  expect([first.code, first.stderr]).toEqual([0, ""]);
  expect(documentOf(first.stdout)).toEqual({ applied: names });
  const again = causeway(["migrate"], variables, bare);
  expect(again).toEqual({ code: 0, stdout: "0 migration(s) applied.\n", stderr: "" });
});

test("an error ends with 1, and is the JSON document, without the database's password", () => {
  const nowhere = new URL(url);
  nowhere.port = "1";
  nowhere.password = "password-of-nobody";
  const failed = causeway(["migrate", "--json"], { DATABASE_URL: nowhere.href });
  expect(failed.code).toBe(1);
  expect(documentOf(failed.stdout)).toEqual({
    error: expect.stringMatching(/^The database was not brought up to date: /) as unknown,
  });
  expect(failed.stdout + failed.stderr).not.toContain(nowhere.password);
  const missing = causeway(["migrate"]);
  expect([missing.code, missing.stdout]).toEqual([1, ""]);
  expect(missing.stderr).toContain("DATABASE_URL is missing");
});

const AN_ERROR: unknown = expect.any(String);

test.each([
  [["jobs"], 0, { jobs: [] }],
  [["jobs", "resume", "none"], 1, { resumed: 0, requested: 1 }],
  [["ledger:verify"], 0, { isWhole: true, transactions: 0, violations: [] }],
  [["audit:verify"], 0, { isWhole: true, anchors: 0, violations: [] }],
  [["keys:rotate", "--check"], 0, { uses: [], oldApiKeys: 0 }],
  [["sponsor-budget", "prj_nobody", "1", "--daily", "1"], 1, { error: AN_ERROR }],
  [["reserves:verify", "package.json"], 1, { error: AN_ERROR }],
  [["paymaster:deploy", "--chain", "1"], 2, { error: AN_ERROR }],
] as const)("%j --json prints one document", (args, code, expected) => {
  const found = causeway([...args, "--json"], { DATABASE_URL: url });
  expect([found.code, found.stderr]).toEqual([code, ""]);
  expect(documentOf(found.stdout)).toMatchObject(expected);
});

test("reconcile --json prints one document, and writes log lines to stderr", () => {
  const unreachable = Object.fromEntries(
    [31337, 31338, 31339].map((id) => [`RPC_URL_${String(id)}`, "http://127.0.0.1:1"]),
  );
  const found = causeway(["reconcile", "--json"], {
    DATABASE_URL: url,
    LOG_LEVEL: "debug",
    ...unreachable,
  });
  expect(found.code).toBe(1);
  const document = documentOf(found.stdout) as { faults: string[] };
  expect(document).toMatchObject({ wasOff: false, chains: [], unknown: [], accepted: [] });
  expect(document.faults.join("\n")).toContain("does not answer");
});

test("backup and restore say in one sentence why they do nothing on a server of one's own", () => {
  const backup = causeway(["backup", join(base, "copy")], { DATABASE_URL: url });
  expect([backup.code, backup.stdout]).toEqual([1, ""]);
  expect(backup.stderr).toContain("DATABASE_URL names a server of your own.");
  const restore = causeway(["restore", join(base, "copy")]);
  expect([restore.code, restore.stdout]).toEqual([1, ""]);
  expect(restore.stderr).toContain("holds no complete backup");
});
