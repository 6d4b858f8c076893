import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { contractionsOf } from "./migration-rules";

/** The schema of the first version, which has no earlier version. */
const INIT = /^\d+_init$/;

const migrations = readdirSync("prisma/migrations").filter((name) => /^\d/.test(name));

test("the first migration makes the whole schema, and is the only one that no version came before", () => {
  expect(migrations.toSorted().findIndex((name) => INIT.test(name))).toBe(0);
  expect(migrations.filter((name) => INIT.test(name))).toHaveLength(1);
});

test("no migration takes away what the version before it uses: both run on the database during an upgrade", () => {
  const faults = migrations
    .filter((name) => !INIT.test(name))
    .map((name) => `prisma/migrations/${name}/migration.sql`)
    .flatMap((file) =>
      contractionsOf(readFileSync(file, "utf8")).map((fault) => `${file} ${fault}`),
    );
  expect(faults).toEqual([]);
});

test.each([
  ["DROP TABLE old;", ["drops something"]],
  ['ALTER TABLE "quote" DROP COLUMN "a";', ["drops something"]],
  ["ALTER TABLE quote RENAME COLUMN a TO b;", ["renames something"]],
  ["ALTER TABLE quote ALTER COLUMN a SET DATA TYPE text;", ["changes the type of a column"]],
  ["ALTER TABLE quote ALTER a TYPE text;", ["changes the type of a column"]],
  ["ALTER TABLE quote ALTER COLUMN a SET NOT NULL;", ["forbids empty values"]],
  ["ALTER TABLE quote ADD COLUMN a text NOT NULL;", ["adds a column that needs a value"]],
  [
    "ALTER TABLE quote ADD COLUMN a text, ADD COLUMN b int NOT NULL;",
    ["adds a column that needs a value"],
  ],
  ["ALTER TABLE quote ADD CONSTRAINT c CHECK (a > 0);", ["adds a constraint"]],
  ["CREATE UNIQUE INDEX i ON quote (a);", ["adds a unique index"]],
  ["REVOKE UPDATE ON quote FROM ledger;", ["takes a right away"]],
])("%s is refused", (sql, faults) => {
  expect(contractionsOf(sql)).toEqual(faults);
});

test.each([
  "ALTER TABLE quote ADD COLUMN a text;",
  "ALTER TABLE quote ADD COLUMN a boolean NOT NULL DEFAULT false;",
  "CREATE INDEX CONCURRENTLY i ON quote (a);",
  'CREATE TABLE "note" (id text NOT NULL); CREATE UNIQUE INDEX i ON "note" (id); ALTER TABLE "note" ADD CONSTRAINT c CHECK (id <> \'\');',
  "-- Later versions DROP TABLE this.\nCREATE TABLE note (id text);",
  "-- contract: no version since 1.4 reads it.\nALTER TABLE quote DROP COLUMN a;",
])("%s is accepted", (sql) => {
  expect(contractionsOf(sql)).toEqual([]);
});
