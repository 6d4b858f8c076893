/**
 * `npm run bench instances`: measures accepted operations, wallet payouts and ledger transfers with
 * 1, 2 and 4 processes on one PostgreSQL, or on the Citus cluster whose coordinator
 * CITUS_DATABASE_URL names. Also measures the rows, bytes and RPC calls of one operation. The
 * numbers of processes take turns, so that the ratios are valid on a busy machine too. A benchmark,
 * not a test.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { createTestClient, http, parseEther, toHex } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { distribute } from "../../lib/platform/db/distribution/distribute";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import { startDevnet } from "../../lib/dev/devnet/devnet";
import { allowMarker } from "../../lib/dev/devnet/marker";
import {
  accept,
  ledgerPerSecond,
  ledgerProjects,
  paidPerSecond,
  startLedgers,
  type LedgerProjects,
} from "./instances-measures";
import {
  type BenchServer,
  countRpc,
  environmentOn,
  median,
  signInAnew,
  startDatabase,
  startServer,
  stopServer,
} from "./harness";
import { payerOf, type Payer } from "./transfers";

const COUNTS = [1, 2, 4] as const;
/**
 * `--rounds 1` makes a short run; `--only ledger` or `--only instances` runs one half of the
 * benchmark.
 */
const { rounds, only } = parseArgs({
  options: { rounds: { type: "string", default: "3" }, only: { type: "string" } },
}).values;
const ROUNDS = Number(rounds);
const PAYERS = 8;
const WARM_MS = 3_000;
const MEASURE_MS = 8_000;
const LEDGER_MS = 4_000;
/**
 * Duration of the measurement of bytes per operation. It is long enough to write many database
 * pages, so that half-empty pages do not distort the result.
 */
const GROWTH_MS = 30_000;
const SETTLE_MS = 10_000;
const CHAIN = 31337;
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

/** Reads how many clock ticks all cores spent so far, and how many of them idle. */
const ticks = (): { readonly all: number; readonly idle: number } => {
  const fields = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "")
    .trim()
    .split(/\s+/)
    .slice(1, 9)
    .map(Number);
  const [idle = 0, waiting = 0] = fields.slice(3, 5);
  return { all: fields.reduce((sum, one) => sum + one, 0), idle: idle + waiting };
};

interface Measured {
  readonly name: string;
  readonly count: number;
  readonly perSecond: number;
  /** Share of all cores that was in use, by this benchmark or by other programs on the machine. */
  readonly busy: number;
}

const results: Measured[] = [];

const measure = async (
  name: string,
  count: number,
  work: () => Promise<number>,
): Promise<void> => {
  const before = ticks();
  const perSecond = await work();
  const after = ticks();
  const busy = 1 - (after.idle - before.idle) / (after.all - before.all);
  results.push({ name, count, perSecond, busy });
  console.error(JSON.stringify({ name, count, perSecond, busy }));
};

/**
 * Prints the figures of each measurement. The ratios compare with one process in the same round,
 * and are the median over the rounds.
 */
const report = (): void => {
  for (const name of new Set(results.map((one) => one.name))) {
    const of = (count: number): Measured[] =>
      results.filter((one) => one.name === name && one.count === count);
    const singles = of(1).map(({ perSecond }) => perSecond);
    for (const count of COUNTS) {
      const found = of(count);
      if (found.length === 0) continue;
      const ratios = found.map(
        ({ perSecond }, round) => perSecond / (singles[round] ?? Number.NaN),
      );
      const perSecond = Math.round(median(found.map((one) => one.perSecond)) * 10) / 10;
      const ratio = Math.round(median(ratios) * 100) / 100;
      const busy = Math.round(median(found.map((one) => one.busy)) * 100) / 100;
      console.log(
        JSON.stringify({
          name,
          count,
          perSecond,
          ratio,
          ratios: ratios.map((one) => one.toFixed(2)),
          busy,
        }),
      );
    }
  }
};

const SIZES = `
  SELECT c.relname AS table, pg_total_relation_size(c.oid)::float8 AS bytes FROM pg_class c
  WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1`;

/** Returns for each table the number of rows, and the bytes including indexes. */
const sizesOf = async (
  pool: pg.Pool,
): Promise<Map<string, { rows: number; bytes: number }>> => {
  const { rows } = await pool.query<{ table: string; bytes: number }>(SIZES);
  const sizes = new Map<string, { rows: number; bytes: number }>();
  for (const { table, bytes } of rows) {
    const [counted] = (
      await pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM "${table}"`)
    ).rows;
    sizes.set(table, { bytes, rows: counted?.count ?? 0 });
  }
  return sizes;
};

/**
 * Measures the rows, bytes and RPC calls per operation. `work` executes operations, and returns how
 * many.
 */
const growth = async (
  name: string,
  { pool, calls }: { readonly pool: pg.Pool; readonly calls: () => number },
  work: () => Promise<number>,
): Promise<void> => {
  await pool.query("VACUUM");
  const [before, callsBefore] = [await sizesOf(pool), calls()];
  const operations = await work();
  const rpc = (calls() - callsBefore) / operations;
  await pool.query("VACUUM");
  const after = await sizesOf(pool);
  const tables = [...after].flatMap(([table, { rows, bytes }]) => {
    const grown = {
      rows: rows - (before.get(table)?.rows ?? 0),
      bytes: bytes - (before.get(table)?.bytes ?? 0),
    };
    if (grown.rows < operations / 20) return [];
    return [
      [
        table,
        { rows: grown.rows / operations, bytes: Math.round(grown.bytes / operations) },
      ] as const,
    ];
  });
  console.log(
    JSON.stringify({ growth: name, operations, rpc, tables: Object.fromEntries(tables) }),
  );
};

const settled = async (pool: pg.Pool): Promise<void> => {
  const until = performance.now() + SETTLE_MS;
  while (performance.now() < until) {
    const { rows } = await pool.query(
      "SELECT 1 FROM operation WHERE status IN ('pending', 'processing') LIMIT 1",
    );
    if (rows.length === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
};

type Start = (role: "web" | "worker", count: number) => Promise<readonly BenchServer[]>;

/**
 * Runs one round: each number of web instances with one worker, and each number of workers with one
 * web instance.
 */
const round = async (start: Start, payers: readonly Payer[], pool: pg.Pool): Promise<void> => {
  const shapes = COUNTS.flatMap((count) => [
    [count, 1] as const,
    ...(count === 1 ? [] : [[1, count] as const]),
  ]);
  for (const [web, workers] of shapes) {
    const instances = await start("web", web);
    const all = [...instances, ...(await start("worker", workers))];
    await accept(instances, payers, WARM_MS);
    const accepted = async () => (await accept(instances, payers, MEASURE_MS)).perSecond;
    if (workers === 1) await measure("accepted operations, web instances", web, accepted);
    await settled(pool);
    const paid = () => paidPerSecond(instances, payers, { pool, measureMs: MEASURE_MS });
    if (web === 1) await measure("rows of payouts, workers", workers, paid);
    await Promise.all(all.map(stopServer));
  }
};

const ledgers = async (url: string, pool: pg.Pool): Promise<void> => {
  const sixteen = await ledgerProjects(url, 16);
  const processes = await startLedgers(Math.max(...COUNTS));
  const run = (count: number, projects: LedgerProjects): Promise<number> =>
    ledgerPerSecond(processes.slice(0, count), { url, projects, measureMs: LEDGER_MS });
  // This measurement also warms the processes up.
  await growth("ledger transfers", { pool, calls: () => 0 }, async () => {
    let transfers = 0;
    for (const count of COUNTS) transfers += ((await run(count, sixteen)) * LEDGER_MS) / 1000;
    return Math.round(transfers);
  });
  for (let turn = 0; turn < ROUNDS; turn += 1)
    for (const count of COUNTS)
      for (const projects of [sixteen.slice(0, 1), sixteen])
        await measure(`ledger transfers, ${String(projects.length)} projects`, count, () =>
          run(count, projects),
        );
  for (const child of processes) child.disconnect();
};

/**
 * Returns the URL of a migrated database: on the cluster when one is configured, otherwise on the
 * PostgreSQL that the benchmark has started.
 */
const databaseUrl = async (create: (name: string) => Promise<string>): Promise<string> => {
  const cluster = process.env.CITUS_DATABASE_URL;
  if (cluster === undefined) return create("bench");
  await migrateDeploy(cluster, MIGRATIONS);
  await distribute(cluster, MIGRATIONS);
  return cluster;
};

/**
 * Starts local chains behind proxies that count the calls, and gives the executor coins on each.
 */
const startChains = async (
  folder: string,
): Promise<{
  readonly variables: Readonly<Record<string, string>>;
  readonly calls: () => number;
  readonly stop: () => Promise<void>;
}> => {
  const devnet = await startDevnet({
    dataDir: `${folder}/chains`,
    persist: false,
    log: () => undefined,
  });
  const executorKey = toHex(randomBytes(32));
  const executor = privateKeyToAddress(executorKey);
  const counters = await Promise.all(devnet.chains.map(({ rpcUrl }) => countRpc(rpcUrl)));
  for (const { rpcUrl } of devnet.chains) {
    const node = createTestClient({ mode: "anvil", transport: http(rpcUrl) });
    await node.setBalance({ address: executor, value: parseEther("1000") });
    await allowMarker(rpcUrl, executor);
  }
  const urls = devnet.chains.map(({ chainId }, at): [string, string] => [
    `RPC_URL_${String(chainId)}`,
    counters[at]?.url ?? "",
  ]);
  return {
    variables: {
      DEVNET: "1",
      EXECUTOR_PRIVATE_KEY: `dev_${executorKey}`,
      ...Object.fromEntries<string>(urls),
    },
    calls: (): number => counters.reduce((sum, one) => sum + one.calls(), 0),
    stop: async (): Promise<void> => {
      for (const counter of counters) counter.close();
      await devnet.stop();
    },
  };
};

const instancesOn = async (url: string, folder: string, pool: pg.Pool): Promise<void> => {
  const { variables, calls, stop } = await startChains(folder);
  const environment = { ...environmentOn(url), ...variables };
  const start: Start = (role, count) =>
    Promise.all(
      Array.from({ length: count }, () => startServer({ ...environment, ROLE: role })),
    );
  const instances = await start("web", 1);
  const workers = await start("worker", 1);
  const payers: Payer[] = [];
  for (let payer = 0; payer < PAYERS; payer += 1)
    payers.push(
      await payerOf({ ...(await signInAnew(instances[0]?.url ?? "", CHAIN)), chainId: CHAIN }),
    );
  // The first operation of a treasury also deploys its contract, so it is not measured.
  await accept(instances, payers, WARM_MS);
  await settled(pool);
  await growth("transfers", { pool, calls }, async () => {
    const { accepted } = await accept(instances, payers, GROWTH_MS);
    await settled(pool);
    return accepted;
  });
  await Promise.all([...instances, ...workers].map(stopServer));
  for (let turn = 0; turn < ROUNDS; turn += 1) await round(start, payers, pool);
  await stop();
};

export const run = async (): Promise<void> => {
  const database = await startDatabase();
  const url = await databaseUrl(database.create);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  if (only !== "instances") await ledgers(url, pool);
  if (only !== "ledger") await instancesOn(url, database.folder, pool);
  report();
  await pool.end();
  await database.stop();
};
