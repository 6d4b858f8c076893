/**
 * The template of test databases on a Citus cluster, whose coordinator CITUS_DATABASE_URL names.
 */
import pg from "pg";
import { distribute } from "@/lib/platform/db/distribution/distribute";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { APP_ROLE } from "@/lib/stack/postgres/embedded-postgres";
import type { SharedPostgres } from "./hub";

const TEMPLATE = "causeway_template";
/**
 * Number of shards of each distributed table. It is lower than the default of Citus, because each
 * test file copies the tables of all shards.
 */
const SHARDS = 4;

const ask = async <Row extends object>(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql, [...values])).rows;
  } finally {
    await client.end();
  }
};

const patternOf = (url: string): string => {
  const parsed = new URL(url);
  parsed.pathname = "/DATABASE";
  return parsed.toString();
};

const onNode = (pattern: string, database: string): string =>
  pattern.replace(/DATABASE$/, database);

interface Node {
  readonly host: string;
  readonly port: number;
}

const NODES = `
  SELECT nodename AS host, nodeport AS port FROM pg_dist_node
  WHERE groupid <> 0 AND noderole = 'primary' ORDER BY nodeport`;

const MAKE_ROLE = `DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${APP_ROLE}') THEN CREATE ROLE ${APP_ROLE} LOGIN PASSWORD '${APP_ROLE}'; END IF;
END $$`;

const dropTemplate = async (node: string): Promise<void> => {
  const url = onNode(node, "postgres");
  const [found] = await ask(url, "SELECT FROM pg_database WHERE datname = $1", [TEMPLATE]);
  if (found === undefined) return;
  await ask(url, `ALTER DATABASE ${TEMPLATE} IS_TEMPLATE false ALLOW_CONNECTIONS true`);
  await ask(url, `DROP DATABASE ${TEMPLATE} WITH (FORCE)`);
};

/**
 * Closes the template for connections, including those of Citus' maintenance, so that it can be
 * copied.
 */
const closeTemplate = async (node: string): Promise<void> => {
  const url = onNode(node, "postgres");
  await ask(url, `ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false`);
  await ask(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [
    TEMPLATE,
  ]);
};

/** Prepares a migrated and distributed database on all nodes, which each test file copies. */
export const startCluster = async (
  coordinatorUrl: string,
  migrations: string,
  stops: (() => Promise<unknown>)[],
): Promise<SharedPostgres> => {
  const coordinator = patternOf(coordinatorUrl);
  const nodes = await ask<Node>(coordinatorUrl, NODES);
  const workers = nodes.map(({ host, port }) => {
    const parsed = new URL(coordinator);
    parsed.hostname = host;
    parsed.port = String(port);
    return parsed.toString();
  });
  const all = [coordinator, ...workers];
  const drop = async (): Promise<void> => {
    for (const node of all) await dropTemplate(node);
  };
  await drop();
  stops.push(drop);
  for (const node of all) {
    await ask(onNode(node, "postgres"), `CREATE DATABASE ${TEMPLATE} TEMPLATE template0`);
    await ask(onNode(node, TEMPLATE), "CREATE EXTENSION citus");
  }
  const url = onNode(coordinator, TEMPLATE);
  const { hostname, port } = new URL(coordinator);
  await ask(url, "SELECT citus_set_coordinator_host($1, $2)", [hostname, Number(port)]);
  for (const node of nodes)
    await ask(url, "SELECT citus_add_node($1, $2)", [node.host, node.port]);
  // Citus creates the role on the other nodes as well.
  await ask(url, MAKE_ROLE);
  await migrateDeploy(url, migrations, APP_ROLE);
  await distribute(`${url}?options=-c%20citus.shard_count%3D${String(SHARDS)}`, migrations);
  for (const node of all) await closeTemplate(node);
  const app = new URL(coordinator);
  app.username = APP_ROLE;
  app.password = APP_ROLE;
  return {
    urlPattern: coordinator,
    appUrlPattern: app.toString(),
    template: TEMPLATE,
    workers,
  };
};
