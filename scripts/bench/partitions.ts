/**
 * `npm run bench partitions`: compares the table `event` with a copy that has a partition for each
 * month: the time to remove a month, the size of the indexes, and the cost of a look-up by sequence
 * number. A benchmark, not a test.
 */
import pg from "pg";
import { median, startDatabase } from "./harness";

const MONTHS = 12;
const EVENTS_PER_MONTH = 200_000;
const PROJECTS = 10;
const LOOKUPS = 2_000;
const BATCH = 1_000;
const TABLES = ["plain", "partitioned"] as const;
type Table = (typeof TABLES)[number];

const COLUMNS = `project_id text NOT NULL, sequence bigint NOT NULL, id text NOT NULL, type text NOT NULL, object_id text NOT NULL,
  object_sequence bigint NOT NULL, payload json NOT NULL, private boolean NOT NULL, created_at timestamptz(3) NOT NULL`;
const monthAt = (number: number): string => new Date(Date.UTC(2025, number, 1)).toISOString();

const create = async (pool: pg.Pool): Promise<void> => {
  await pool.query(`CREATE TABLE plain (${COLUMNS}, PRIMARY KEY (project_id, sequence))`);
  await pool.query("CREATE UNIQUE INDEX ON plain (project_id, object_id, object_sequence)");
  // PostgreSQL requires the partition's column in each unique key, so no key of this table
  // guarantees that a sequence number is used only once.
  await pool.query(
    `CREATE TABLE partitioned (${COLUMNS}, PRIMARY KEY (project_id, sequence, created_at)) PARTITION BY RANGE (created_at)`,
  );
  await pool.query(
    "CREATE UNIQUE INDEX ON partitioned (project_id, object_id, object_sequence, created_at)",
  );
  for (let month = 0; month < MONTHS; month += 1)
    await pool.query(
      `CREATE TABLE part_${String(month)} PARTITION OF partitioned FOR VALUES FROM ('${monthAt(month)}') TO ('${monthAt(month + 1)}')`,
    );
};

// Inserts three events for each object, in the order of their occurrence.
const FILL = `
  INSERT INTO TABLE_NAME
  SELECT 'prj_' || n % ${String(PROJECTS)}, $1::bigint * $2::int + n, 'evt_' || gen_random_uuid(), 'operation.processing',
    'op_' || md5(($1::bigint * $2::int + n - n / ${String(PROJECTS)} % 3 * ${String(PROJECTS)})::text), n / ${String(PROJECTS)} % 3 + 1,
    json_build_object('operationId', gen_random_uuid(), 'kind', 'transfer', 'status', 'processing', 'subStatus', 'queued', 'failure', null),
    false, $3::timestamptz + n * interval '1 second'
  FROM generate_series(0, $2::int - 1) n`;

const fill = async (pool: pg.Pool, table: Table): Promise<number> => {
  const started = performance.now();
  for (let month = 0; month < MONTHS; month += 1)
    await pool.query(FILL.replace("TABLE_NAME", table), [
      month,
      EVENTS_PER_MONTH,
      monthAt(month),
    ]);
  const seconds = (performance.now() - started) / 1000;
  await pool.query(`VACUUM ANALYZE ${table}`);
  return (MONTHS * EVENTS_PER_MONTH) / seconds;
};

const indexBytes = async (pool: pg.Pool, table: Table): Promise<number> => {
  const { rows } = await pool.query<{ bytes: number }>(
    "SELECT sum(pg_indexes_size(relid))::float8 AS bytes FROM pg_partition_tree($1::regclass)",
    [table],
  );
  const [row] = rows;
  if (row !== undefined && row.bytes > 0) return row.bytes;
  return (
    (
      await pool.query<{ bytes: number }>(
        "SELECT pg_indexes_size($1::regclass)::float8 AS bytes",
        [table],
      )
    ).rows[0]?.bytes ?? 0
  );
};

const lookupMs = async (pool: pg.Pool, table: Table): Promise<number> => {
  const times: number[] = [];
  for (let lookup = 0; lookup < LOOKUPS; lookup += 1) {
    const sequence = Math.floor(Math.random() * MONTHS * EVENTS_PER_MONTH);
    const started = performance.now();
    await pool.query({
      name: `lookup ${table}`,
      text: `SELECT id FROM ${table} WHERE project_id = $1 AND sequence = $2`,
      values: [`prj_${String(sequence % PROJECTS)}`, sequence],
    });
    times.push(performance.now() - started);
  }
  return median(times);
};

/**
 * Removes the first month's rows in batches by their keys, as `npm run archive` does, and then
 * vacuums the table.
 */
const removeByBatches = async (
  pool: pg.Pool,
): Promise<{ deleteS: number; longestMs: number; vacuumS: number }> => {
  const started = performance.now();
  let longestMs = 0;
  for (let from = 0; from < EVENTS_PER_MONTH; from += BATCH) {
    const begun = performance.now();
    await pool.query(
      `DELETE FROM plain d USING generate_series($1::bigint, $1::bigint + ${String(BATCH - 1)}) AS r (n)
       WHERE d.project_id = 'prj_' || r.n % ${String(PROJECTS)} AND d.sequence = r.n`,
      [from],
    );
    longestMs = Math.max(longestMs, performance.now() - begun);
  }
  const deleted = performance.now();
  await pool.query("VACUUM plain");
  return {
    deleteS: (deleted - started) / 1000,
    longestMs,
    vacuumS: (performance.now() - deleted) / 1000,
  };
};

const removePartition = async (pool: pg.Pool): Promise<number> => {
  const started = performance.now();
  await pool.query("ALTER TABLE partitioned DETACH PARTITION part_0 CONCURRENTLY");
  await pool.query("DROP TABLE part_0");
  return performance.now() - started;
};

export const run = async (): Promise<void> => {
  const database = await startDatabase();
  const pool = new pg.Pool({ connectionString: await database.create("bench"), max: 2 });
  try {
    await create(pool);
    for (const table of TABLES) {
      const rowsPerSecond = Math.round(await fill(pool, table));
      const megabytes = Math.round((await indexBytes(pool, table)) / 2 ** 20);
      console.log(
        JSON.stringify({
          table,
          rowsPerSecond,
          indexMB: megabytes,
          lookupMs: await lookupMs(pool, table),
        }),
      );
    }
    console.log(
      JSON.stringify({
        month: EVENTS_PER_MONTH,
        ...(await removeByBatches(pool)),
        dropMs: await removePartition(pool),
      }),
    );
  } finally {
    await pool.end();
    await database.stop();
  }
};
