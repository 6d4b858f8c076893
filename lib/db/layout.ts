/** Remembers which connections lead to a cluster whose hot tables are distributed; see lib/db/distribution. */
import type pg from "pg";

const distributed = new WeakSet<object>();
/** The connection that each was made of. */
const sources = new WeakMap<object, object>();
/** By pool: asks its server, once, whether tables are distributed, and marks the pool. `createLayout` adds it. */
const questions = new WeakMap<object, () => Promise<void>>();

/** Whether statements on `connection` (a pool, a transaction, a client of Prisma, or what `sqlOn` and its like made of one) may meet distributed tables. */
export const isDistributed = (connection: object): boolean => {
  for (let at: object | undefined = connection; at !== undefined; at = sources.get(at))
    if (distributed.has(at)) return true;
  return false;
};

/** As `isDistributed`, and asks the server first where no one has. Inside a transaction that is known already. */
export const findDistributed = async (connection: object): Promise<boolean> => {
  for (let at: object | undefined = connection; at !== undefined; at = sources.get(at)) await questions.get(at)?.();
  return isDistributed(connection);
};

/** SQL, on a cluster: the group of the node that has the rows of the project. */
export const nodeOfProject = (project: string): string => `(
  SELECT min(d.groupid) FROM pg_dist_placement d WHERE d.shardid = get_shard_id_for_distribution_column('event', ${project}))`;

/** Notes that `connection` is distributed where `source` is. @returns `connection` */
export const likewise = <T extends object>(connection: T, source: object): T => {
  sources.set(connection, source);
  return connection;
};

/**
 * For a transaction on a cluster that may change rows of the coordinator and of a node: makes Citus commit it in two phases. Citus does so by itself
 * where rows of several nodes changed, or were copied. After other changes of one node, that node commits before the coordinator does, which
 * may be lost in between: an operation would be stored without its job. It copies no row, so no node is asked.
 */
export const COMMIT_IN_TWO_PHASES = "INSERT INTO operation_event (project_id) SELECT p FROM unnest('{}'::text[]) AS p";

// Asked once for each pool: `npm run db:distribute` refuses to run beside processes of the service, so the answer cannot change while one runs.
const IS_DISTRIBUTED = `
  SELECT count(*) > 0 AS "is" FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'pg_catalog' AND c.relname = 'pg_dist_partition'
    AND EXISTS (SELECT FROM pg_proc WHERE proname = 'citus_version')`;
const COUNT = `SELECT count(*) > 0 AS "is" FROM pg_dist_partition WHERE partmethod = 'h'`;

/** Asks the server, once for a pool, and marks the pool. */
export const createLayout = (
  pool: Pick<pg.Pool, "query">,
): ((client?: Pick<pg.ClientBase, "query">) => Promise<void>) => {
  let known: Promise<void> | null = null;
  const ask = async (client: Pick<pg.ClientBase, "query">): Promise<void> => {
    const asks = async (text: string): Promise<boolean> =>
      (await client.query<{ is: boolean }>(text)).rows[0]?.is === true;
    if ((await asks(IS_DISTRIBUTED)) && (await asks(COUNT))) distributed.add(pool);
  };
  const find = (client: Pick<pg.ClientBase, "query"> = pool): Promise<void> => {
    known ??= ask(client).catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
  questions.set(pool, () => find());
  return find;
};
