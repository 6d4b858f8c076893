import pg from "pg";
import { readdirSync } from "node:fs";
import { connectionOf, MIGRATION_LIMITS } from "../pool";
import { requireOwner } from "../roles/app-role";

/**
 * Where each table is stored on a Citus cluster. A table in neither list stays a local table of the
 * coordinator.
 */

/**
 * Tables that grow with the number of movements. Their rows are stored on the node of their
 * project, so a transaction of one project needs only one node.
 */
export const DISTRIBUTED_TABLES = [
  "operation",
  "operation_leg",
  "operation_event",
  "quote",
  "payout",
  "payout_rows",
  "payout_item",
  "payout_row_key",
  "wallet_payout",
  "wallet_payout_item",
  "wallet_payout_batch",
  "ledger_account",
  "ledger_transaction",
  "ledger_entry",
  "privacy_transfer",
  "privacy_step",
  "privacy_slot",
  "privacy_quote",
  "policy_evaluation",
  "screening_record",
  "annotation",
  "api_request",
  "event",
  "event_counter",
  "webhook_delivery",
  "webhook_attempt",
] as const;

export const DISTRIBUTION_COLUMN = "project_id";

const isHot = (table: string): boolean =>
  (DISTRIBUTED_TABLES as readonly string[]).includes(table);

// Gives a table the keys that a distributed table needs: each begins with the project.

type Client = Pick<pg.ClientBase, "query">;

interface Index {
  readonly name: string;
  readonly definition: string;
  readonly isPrimary: boolean;
  readonly columns: readonly string[];
}

interface ForeignKey {
  readonly name: string;
  readonly source: string;
  readonly target: string;
  readonly columns: readonly string[];
  readonly targetColumns: readonly string[];
}

// All statements on the ledger's tables name the project, so all of their indexes begin with it.
// With one index on only the project and another on a different column, the planner may choose the
// wrong one. Other tables are also searched over all projects, by hashes and times.
const INDEXES = `
  SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) AS definition, i.indisprimary AS "isPrimary",
    array(SELECT a.attname::text FROM unnest(i.indkey) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) AS columns
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE i.indrelid = $1::text::regclass AND (i.indisunique OR $1::text LIKE 'ledger%')`;

const FOREIGN_KEYS = `
  SELECT conname AS name, conrelid::regclass::text AS source, confrelid::regclass::text AS target,
    array(SELECT a.attname::text FROM unnest(conkey) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.number ORDER BY k.place) AS columns,
    array(SELECT a.attname::text FROM unnest(confkey) WITH ORDINALITY k (number, place)
      JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.number ORDER BY k.place) AS "targetColumns"
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace`;

const TRIGGERS = `
  SELECT tgname AS name, tgrelid::regclass::text AS table FROM pg_trigger
  WHERE NOT tgisinternal AND tgrelid = ANY($1::regclass[])`;

const quoted = (names: readonly string[]): string =>
  names.map((name) => `"${name}"`).join(", ");

const withProject = (columns: readonly string[]): string =>
  quoted([DISTRIBUTION_COLUMN, ...columns.filter((column) => column !== DISTRIBUTION_COLUMN)]);

const withProjectFirst = (definition: string): string =>
  definition.replace(
    /USING (\w+) \(/,
    (_, method: string) => `USING ${method} (${DISTRIBUTION_COLUMN}, `,
  );

const reshapeIndexes = async (client: Client, table: string): Promise<void> => {
  const { rows } = await client.query<Index>(INDEXES, [table]);
  for (const { name, definition, isPrimary, columns } of rows) {
    if (columns.includes(DISTRIBUTION_COLUMN)) continue;
    if (isPrimary) {
      await client.query(`ALTER TABLE "${table}" DROP CONSTRAINT "${name}"`);
      await client.query(
        `ALTER TABLE "${table}" ADD CONSTRAINT "${name}" PRIMARY KEY (${withProject(columns)})`,
      );
    } else {
      await client.query(`DROP INDEX "${name}"`);
      await client.query(withProjectFirst(definition));
    }
  }
};

/**
 * Removes what Citus cannot distribute (triggers, foreign keys of hot tables) and makes the keys
 * begin with the project.
 * @param tables the tables that are not distributed yet
 * @returns statements to run after the distribution: foreign keys that include the project
 */
const reshapeTables = async (client: Client, tables: readonly string[]): Promise<string[]> => {
  const triggers = await client.query<{ name: string; table: string }>(TRIGGERS, [[...tables]]);
  for (const { name, table } of triggers.rows)
    await client.query(`DROP TRIGGER "${name}" ON ${table}`);
  const { rows: keys } = await client.query<ForeignKey>(FOREIGN_KEYS);
  const touching = keys.filter(
    ({ source, target }) => tables.includes(source) || tables.includes(target),
  );
  for (const { name, source } of touching)
    await client.query(`ALTER TABLE ${source} DROP CONSTRAINT "${name}"`);
  for (const table of tables) await reshapeIndexes(client, table);
  return touching.flatMap(({ name, source, target, columns, targetColumns }) => {
    if (!isHot(source) || !isHot(target)) return [];
    const [from, to] = [withProject(columns), withProject(targetColumns)];
    return [
      `ALTER TABLE ${source} ADD CONSTRAINT "${name}" FOREIGN KEY (${from}) REFERENCES ${target} (${to})`,
    ];
  });
};

// `npm run db:distribute`: distributes the hot tables of a migrated database over the nodes of its
// Citus cluster.

const CITUS_VERSION_MIN = 12;

const EXTENSION =
  "SELECT split_part(extversion, '.', 1)::int AS major FROM pg_extension WHERE extname = 'citus'";
const IS_COORDINATOR = "SELECT groupid = 0 AS is FROM pg_dist_local_group";
const NODES =
  "SELECT count(*)::int AS count FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0";
const APPLIED =
  "SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL";
const LIVE =
  "SELECT count(*)::int AS count FROM instance WHERE beat_at > now() - interval '10 seconds'";
const LAID_OUT = `
  SELECT table_name::text AS table, citus_table_type AS type, shard_count::int AS shards, table_size AS size FROM citus_tables
  WHERE table_name::text = ANY($1::text[]) ORDER BY 2, 1`;

/** Where a table is stored. `local`: only on the coordinator. */
interface Placement {
  readonly table: string;
  readonly type: string;
  readonly shards: number;
  readonly size: string;
}

const placements = async (client: Client): Promise<readonly Placement[]> => {
  const { rows } = await client.query<Placement>(LAID_OUT, [[...DISTRIBUTED_TABLES]]);
  return rows;
};

/**
 * The tables of `DISTRIBUTED_TABLES` that Citus has not distributed. Before the first run these
 * are all tables, and later the tables that a newer version of the service added.
 */
const notDistributed = (placed: readonly Placement[]): readonly string[] => {
  const types = new Map(placed.map(({ table, type }) => [table, type]));
  return DISTRIBUTED_TABLES.filter((table) => types.get(table) !== "distributed");
};

const requireCluster = async (client: Client): Promise<void> => {
  const [extension] = (await client.query<{ major: number }>(EXTENSION)).rows;
  if (extension === undefined)
    throw new Error(
      "The database has no extension citus. Run this on the coordinator of a Citus cluster.",
    );
  if (extension.major < CITUS_VERSION_MIN)
    throw new Error(
      `Citus ${String(CITUS_VERSION_MIN)} or newer is needed; the cluster has ${String(extension.major)}.`,
    );
  const [group] = (await client.query<{ is: boolean }>(IS_COORDINATOR)).rows;
  if (group?.is !== true) throw new Error("This is not the coordinator of the cluster.");
  const [nodes] = (await client.query<{ count: number }>(NODES)).rows;
  if ((nodes?.count ?? 0) === 0)
    throw new Error("The cluster has no node to distribute to: see citus_add_node.");
};

const requireMigrated = async (client: Client, migrations: string): Promise<void> => {
  const applied = new Set(
    (await client.query<{ name: string }>(APPLIED)).rows.map(({ name }) => name),
  );
  const missing = readdirSync(migrations, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !applied.has(entry.name))
    .map(({ name }) => name);
  if (missing.length > 0)
    throw new Error(`These migrations are not applied yet: ${missing.join(", ")}.`);
};

/**
 * Requires that no process of the service runs. Running requests would wait minutes for locks, and
 * processes that started before do not know about the distribution.
 */
const requireStopped = async (client: Client): Promise<void> => {
  const [live] = (await client.query<{ count: number }>(LIVE)).rows;
  if ((live?.count ?? 0) > 0)
    throw new Error(
      `Stop the service first: ${String(live?.count)} of its processes are running.`,
    );
};

const distributeTables = async (client: Client, tables: readonly string[]): Promise<void> => {
  // Keeps all shards of a project on the same node, including the shards of tables that are
  // distributed later.
  let together =
    DISTRIBUTED_TABLES.find((table): boolean => !tables.includes(table)) ?? "default";
  for (const table of tables) {
    const values = [table, DISTRIBUTION_COLUMN, together];
    await client.query(
      "SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)",
      values,
    );
    if (together === "default") together = table;
  }
};

const distributeAll = async (client: Client, tables: readonly string[]): Promise<void> => {
  await client.query("BEGIN");
  // Uses one connection per node, so that a cluster of any size can distribute the tables in one
  // transaction.
  await client.query("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'");
  await client.query("SET LOCAL client_min_messages TO warning");
  const foreignKeys = await reshapeTables(client, tables);
  await distributeTables(client, tables);
  for (const statement of foreignKeys) await client.query(statement);
  await client.query("COMMIT");
};

/**
 * Checks the preconditions, and distributes the tables that are not distributed yet in one
 * transaction. Does nothing the second time, unless the list of tables has grown.
 * @param migrations the folder of the migrations, all of which must be applied
 * @returns where the tables are, and whether anything was changed
 * @throws Error that says why the tables cannot be distributed
 */
export const distribute = async (
  url: string,
  migrations: string,
): Promise<{ readonly changed: boolean; readonly placements: readonly Placement[] }> => {
  const client = new pg.Client(connectionOf(url, MIGRATION_LIMITS));
  client.on("error", () => undefined); // The pending query reports the error.
  await client.connect();
  try {
    await requireCluster(client);
    await requireOwner(client);
    await requireMigrated(client, migrations);
    const before = await placements(client);
    const tables = notDistributed(before);
    if (tables.length === 0) return { changed: false, placements: before };
    await requireStopped(client);
    await distributeAll(client, tables);
    return { changed: true, placements: await placements(client) };
  } finally {
    await client.end();
  }
};
