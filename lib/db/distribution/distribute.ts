/** Distributes the hot tables of a migrated database over the nodes of its Citus cluster; `npm run db:distribute`. */
import { readdirSync } from "node:fs";
import pg from "pg";
import { connectionOf, MIGRATION_LIMITS } from "../limits";
import { reshapeTables } from "./reshape";
import { DISTRIBUTED_TABLES, DISTRIBUTION_COLUMN } from "./tables";

type Client = Pick<pg.ClientBase, "query">;

const CITUS_VERSION_MIN = 12;

const EXTENSION = "SELECT split_part(extversion, '.', 1)::int AS major FROM pg_extension WHERE extname = 'citus'";
const IS_COORDINATOR = "SELECT groupid = 0 AS is FROM pg_dist_local_group";
const NODES =
  "SELECT count(*)::int AS count FROM pg_dist_node WHERE isactive AND noderole = 'primary' AND groupid <> 0";
const APPLIED =
  "SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL";
const LIVE = "SELECT count(*)::int AS count FROM instance WHERE beat_at > now() - interval '10 seconds'";
const LAID_OUT = `
  SELECT table_name::text AS table, citus_table_type AS type, shard_count::int AS shards, table_size AS size FROM citus_tables
  WHERE table_name::text = ANY($1::text[]) ORDER BY 2, 1`;

/** Where a table lies. `local`: on the coordinator alone. */
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

/** The tables of `DISTRIBUTED_TABLES` that Citus has not distributed: all of them before the first run, and later those that a newer version of the service has added. */
const notDistributed = (placed: readonly Placement[]): readonly string[] => {
  const types = new Map(placed.map(({ table, type }) => [table, type]));
  return DISTRIBUTED_TABLES.filter((table) => types.get(table) !== "distributed");
};

const requireCluster = async (client: Client): Promise<void> => {
  const [extension] = (await client.query<{ major: number }>(EXTENSION)).rows;
  if (extension === undefined)
    throw new Error("The database has no extension citus. Run this on the coordinator of a Citus cluster.");
  if (extension.major < CITUS_VERSION_MIN)
    throw new Error(
      `Citus ${String(CITUS_VERSION_MIN)} or newer is needed; the cluster has ${String(extension.major)}.`,
    );
  const [group] = (await client.query<{ is: boolean }>(IS_COORDINATOR)).rows;
  if (group?.is !== true) throw new Error("This is not the coordinator of the cluster.");
  const [nodes] = (await client.query<{ count: number }>(NODES)).rows;
  if ((nodes?.count ?? 0) === 0) throw new Error("The cluster has no node to distribute to: see citus_add_node.");
};

const requireMigrated = async (client: Client, migrations: string): Promise<void> => {
  const applied = new Set((await client.query<{ name: string }>(APPLIED)).rows.map(({ name }) => name));
  const missing = readdirSync(migrations, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !applied.has(entry.name))
    .map(({ name }) => name);
  if (missing.length > 0) throw new Error(`These migrations are not applied yet: ${missing.join(", ")}.`);
};

/** Requests that run meanwhile would wait for locks for minutes, and processes that started before do not know about the distribution. */
const requireStopped = async (client: Client): Promise<void> => {
  const [live] = (await client.query<{ count: number }>(LIVE)).rows;
  if ((live?.count ?? 0) > 0)
    throw new Error(`Stop the service first: ${String(live?.count)} of its processes are running.`);
};

const requireProjects = async (client: Client, tables: readonly string[]): Promise<void> => {
  for (const table of tables) {
    const text = `SELECT 1 FROM "${table}" WHERE "${DISTRIBUTION_COLUMN}" IS NULL LIMIT 1`;
    if ((await client.query(text)).rows.length > 0)
      throw new Error(`The table ${table} has rows without a project. Nothing was changed.`);
  }
};

const distributeTables = async (client: Client, tables: readonly string[]): Promise<void> => {
  // The shards of a project lie together, also those of tables that are distributed later.
  let together = DISTRIBUTED_TABLES.find((table): boolean => !tables.includes(table)) ?? "default";
  for (const table of tables) {
    const values = [table, DISTRIBUTION_COLUMN, together];
    await client.query("SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)", values);
    if (together === "default") together = table;
  }
};

const distributeAll = async (client: Client, tables: readonly string[]): Promise<void> => {
  await client.query("BEGIN");
  // One connection for each node, so that a cluster of any size can do it in one transaction.
  await client.query("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'");
  await client.query("SET LOCAL client_min_messages TO warning");
  await requireProjects(client, tables);
  const foreignKeys = await reshapeTables(client, tables);
  await distributeTables(client, tables);
  for (const statement of foreignKeys) await client.query(statement);
  await client.query("COMMIT");
};

/**
 * Checks that it can, and distributes the tables that are not yet in one transaction: it happens as a whole, or not at all. Does nothing
 * the second time, unless the list of tables has grown since.
 * @param migrations the folder of the migrations, all of which must be applied
 * @returns where the tables lie, and whether anything was changed
 * @throws Error that says why it cannot
 */
export const distribute = async (
  url: string,
  migrations: string,
): Promise<{ readonly changed: boolean; readonly placements: readonly Placement[] }> => {
  const client = new pg.Client(connectionOf(url, MIGRATION_LIMITS));
  client.on("error", () => undefined); // The query that waits reports it.
  await client.connect();
  try {
    await requireCluster(client);
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
