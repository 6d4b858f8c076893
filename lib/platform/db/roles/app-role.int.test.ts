/**
 * The database role of the service: which statements it is refused on each table, and with which
 * roles the service does not start.
 */
import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkStart } from "@/lib/composition/start-checks";
import { createDatabase } from "@/lib/platform/db/client";
import { asOwner, testDatabase } from "@/lib/dev/testing/database";
import { testConfig } from "@/lib/dev/testing/devnet";
import {
  COLUMN_RIGHTS,
  grantAppRole,
  privilegesOn,
  requireOwner,
  roleFaults,
  TABLE_RIGHTS,
} from "./app-role";

const { url, ownerUrl } = await testDatabase();
const app = new pg.Client({ connectionString: url });
const TABLES = Object.keys(TABLE_RIGHTS);
const DENIED = "42501";

beforeAll(() => app.connect());
afterAll(() => app.end());

/**
 * The error code of a statement that the service's role runs; null when it succeeded. Everything is
 * rolled back.
 */
const refusal = async (client: pg.Client, text: string): Promise<string | null> => {
  await client.query("BEGIN");
  try {
    await client.query(text);
    return null;
  } catch (error) {
    return error instanceof pg.DatabaseError ? (error.code ?? "") : "";
  } finally {
    await client.query("ROLLBACK");
  }
};

interface Column {
  readonly table: string;
  readonly column: string;
}

/** A column of each table that no right names, to test the rights on columns. */
const columns = async (): Promise<ReadonlyMap<string, string>> => {
  const rows = await asOwner<Column>(
    url,
    `SELECT table_name AS table, column_name AS column FROM information_schema.columns
     WHERE table_schema = 'public' AND is_identity = 'NO' ORDER BY ordinal_position DESC`,
  );
  return new Map(
    rows
      .filter(({ table, column }) => !(COLUMN_RIGHTS[table] ?? []).includes(column))
      .map((row) => [row.table, row.column]),
  );
};
const columnOf = await columns();

/** Statements that the role may not run on any table, whatever its rights on rows are. */
const TAKING_OVER: readonly (readonly [name: string, statement: (table: string) => string])[] =
  [
    ["TRUNCATE", (table) => `TRUNCATE "${table}"`],
    ["DISABLE TRIGGER", (table) => `ALTER TABLE "${table}" DISABLE TRIGGER USER`],
    ["ADD COLUMN", (table) => `ALTER TABLE "${table}" ADD COLUMN x int`],
    ["OWNER TO", (table) => `ALTER TABLE "${table}" OWNER TO CURRENT_USER`],
    [
      "CREATE TRIGGER",
      (table) =>
        `CREATE TRIGGER x BEFORE INSERT ON "${table}" EXECUTE FUNCTION refuse_change()`,
    ],
    ["CREATE RULE", (table) => `CREATE RULE x AS ON INSERT TO "${table}" DO INSTEAD NOTHING`],
    ["CREATE INDEX", (table) => `CREATE INDEX ON "${table}" ((1))`],
    ["DROP", (table) => `DROP TABLE "${table}"`],
  ];

const ROWS: readonly (readonly [privilege: string, statement: (table: string) => string])[] = [
  ["INSERT", (table) => `INSERT INTO "${table}" DEFAULT VALUES`],
  ["UPDATE", (table) => `UPDATE "${table}" SET "${columnOf.get(table) ?? ""}" = NULL`],
  ["DELETE", (table) => `DELETE FROM "${table}"`],
];

test("every table of the schema has its rights, and no other is named", async () => {
  const rows = await asOwner<{ name: string }>(
    url,
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY 1",
  );
  // A new table must be added to lib/platform/db/roles/app-role.ts.
  expect(rows.map(({ name }) => name)).toEqual([...TABLES].sort());
});

test.each(TABLES)(
  "%s: the role of the service is refused whatever its rights do not name",
  async (table) => {
    const refused = [
      ...TAKING_OVER,
      ...ROWS.filter(([privilege]) => !privilegesOn(table).some((one) => one === privilege)),
    ];
    for (const [name, statement] of refused)
      expect([name, await refusal(app, statement(table))]).toEqual([name, DENIED]);
  },
);

test("a right that the role grants itself is not there", async () => {
  // PostgreSQL only warns when a role has a right but may not grant it.
  await app
    .query("GRANT ALL ON ALL TABLES IN SCHEMA public TO CURRENT_USER")
    .catch(() => undefined);
  for (const table of TABLES)
    await app
      .query(`GRANT DELETE, TRUNCATE ON "${table}" TO CURRENT_USER`)
      .catch(() => undefined);
  expect(await roleFaults(app)).toEqual({ tooStrong: null, tooWeak: null });
  expect(await refusal(app, "DELETE FROM audit_event")).toBe(DENIED);
});

test.each([
  ["replication mode, in which no trigger fires", "SET session_replication_role = replica"],
  ["another role", "SET ROLE postgres"],
  ["the powers of a superuser", `ALTER ROLE CURRENT_USER SUPERUSER`],
  ["a role of its own", "CREATE ROLE helper SUPERUSER"],
  ["membership in the owner", "GRANT postgres TO CURRENT_USER"],
  ["functions", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'"],
  ["tables", "CREATE TABLE public.x (id int)"],
  ["programs of the server", "COPY (SELECT 1) TO PROGRAM 'true'"],
])("the role of the service does not get %s", async (_, text) => {
  expect(await refusal(app, text)).toBe(DENIED);
});

const roles: string[] = [];
/** Creates a role, and a client that is connected as it. */
const newRole = async (
  attributes = "",
): Promise<{ name: string; client: pg.Client; roleUrl: string }> => {
  const name = `role_${randomBytes(6).toString("hex")}`;
  roles.push(name);
  await asOwner(url, `CREATE ROLE ${name} LOGIN PASSWORD 'dev' ${attributes}`);
  const parsed = new URL(url);
  [parsed.username, parsed.password] = [name, "dev"];
  const client = new pg.Client({ connectionString: parsed.href });
  await client.connect();
  return { name, client, roleUrl: parsed.href };
};
const clients: pg.Client[] = [];
const granted = async (attributes = "") => {
  const made = await newRole(attributes);
  clients.push(made.client);
  const owner = new pg.Client({ connectionString: ownerUrl });
  await owner.connect();
  await grantAppRole(owner, made.name);
  await owner.end();
  return made;
};
afterAll(async () => {
  await Promise.all(clients.map((client) => client.end()));
  for (const name of roles) await asOwner(url, `DROP OWNED BY ${name}`);
  for (const name of roles) await asOwner(url, `DROP ROLE ${name}`);
});

describe("a start", () => {
  const start = async (databaseUrl: string, env: "development" | "production") => {
    const database = createDatabase(databaseUrl, { poolSize: 1 });
    try {
      return await checkStart(
        { ...testConfig({ databaseUrl }), chains: [], env },
        database,
        () => [],
      );
    } finally {
      await database.close();
    }
  };

  test("finds no fault with the role that the migrations granted its rights", async () => {
    for (const env of ["development", "production"] as const)
      expect(await start(url, env)).toEqual({ faults: [], warnings: [] });
  });

  test("refuses the owner of the tables in production, warns of it in development, and says how to mend it", async () => {
    const message = expect.stringMatching(
      /^The role postgres of DATABASE_URL is a superuser, so whoever has it can remove history unseen\. Let DATABASE_URL name a role that owns nothing, and DATABASE_OWNER_URL the owner/,
    ) as string;
    expect(await start(ownerUrl, "production")).toEqual({ faults: [message], warnings: [] });
    expect(await start(ownerUrl, "development")).toEqual({ faults: [], warnings: [message] });
  });

  test("refuses a role without rights everywhere, and says which are missing", async () => {
    const { client, roleUrl } = await newRole();
    clients.push(client);
    for (const env of ["development", "production"] as const)
      expect((await start(roleUrl, env)).faults).toEqual([
        expect.stringMatching(
          /lacks SELECT on _prisma_migrations, .* and others\. Run the migrations as the owner/,
        ),
      ]);
  });
});

test.each([
  [
    "can become the owner of a table",
    (role: string) => [`CREATE TABLE probe_${role} ()`, `GRANT postgres TO ${role}`],
    "is a superuser",
  ],
  [
    "owns one table",
    (role: string) => [`ALTER TABLE dev_mail OWNER TO ${role}`],
    "owns tables (dev_mail)",
  ],
  [
    "may delete from an append-only table",
    (role: string) => [`GRANT DELETE ON audit_link TO ${role}`],
    "has DELETE on audit_link",
  ],
  [
    "may do so like everybody",
    () => ["GRANT UPDATE ON audit_seal TO PUBLIC"],
    "has UPDATE on audit_seal",
  ],
  [
    "may create objects",
    (role: string) => [`GRANT CREATE ON SCHEMA public TO ${role}`],
    "may create objects",
  ],
  ["may make roles", (role: string) => [`ALTER ROLE ${role} CREATEROLE`], "may make roles"],
  [
    "writes past all rights",
    (role: string) => [`GRANT pg_write_all_data TO ${role}`],
    "has a role of PostgreSQL that writes past all rights",
  ],
] as const)(
  "a role that %s is too strong, and granting anew takes back what can be taken back",
  async (_, changes, found) => {
    const { name, client } = await granted();
    expect(await roleFaults(client)).toEqual({ tooStrong: null, tooWeak: null });
    const owner = new pg.Client({ connectionString: ownerUrl });
    await owner.connect();
    try {
      for (const statement of changes(name)) await owner.query(statement);
      expect((await roleFaults(client)).tooStrong).toContain(
        `The role ${name} of DATABASE_URL ${found}`,
      );
      await owner.query("ALTER TABLE dev_mail OWNER TO postgres");
      await grantAppRole(owner, name);
      if (found.includes(" on "))
        expect(await roleFaults(client)).toEqual({ tooStrong: null, tooWeak: null });
    } finally {
      await owner.end();
    }
  },
);

test("commands that need the owner say so to another role", async () => {
  await expect(requireOwner(app)).rejects.toThrow(
    "The role causeway_app does not own the tables. Set DATABASE_OWNER_URL to the owner: docs/operations.md#database-roles",
  );
});
