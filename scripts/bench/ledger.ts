/**
 * `npm run bench ledger`: measures the cost of a ledger transfer, and compares it with simpler
 * implementations on the same PostgreSQL in the same run. `--long` measures at several sizes of the
 * ledger, up to ten million entries. A benchmark, not a test.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { systemClock } from "../../lib/core/clock";
import { newId } from "../../lib/core/ids";
import { PrismaClient } from "../../lib/platform/db/generated/client";
import { startEmbeddedPostgres } from "../../lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "../../lib/platform/db/migrate";
import { createLedgerRepository } from "../../lib/books/ledger/repository";
import { createLedgerService, type LedgerService } from "../../lib/books/ledger/service";
import { verifyLedger } from "../../lib/books/ledger/verify";
import { makeWorkspace } from "../../lib/dev/testing/workspace";
import { LEDGER_FUNCTION, seedAccounts, seedEntries } from "./ledger-seed";
import { median } from "./harness";

const ACCOUNTS = 100_000;
const IN_FLIGHT = 256;
const POOL_SIZE = 10;
const ROUNDS = 3;
const MEASURE_MS = 5_000;
const WARM_MS = 1_000;
const LONG_MEASURE_MS = 30_000;
const MILLION = 1_000_000;
const CLOCK_TICKS = 100; // Ticks per second in the files of /proc.
const PRISMA_TIMEOUT_MS = 60_000;
const MIGRATIONS = fileURLToPath(new URL("../../prisma/migrations", import.meta.url));

type Task = (number: number) => Promise<unknown>;

/** Returns the tasks that end per second, while a constant number of tasks is in flight. */
const throughput = async (task: Task, measureMs = MEASURE_MS): Promise<number> => {
  let number = 0;
  let done = 0;
  const from = performance.now() + WARM_MS;
  const until = from + measureMs;
  const work = async (): Promise<void> => {
    while (performance.now() < until) {
      await task((number += 1));
      const now = performance.now();
      if (now >= from && now < until) done += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  return (done / measureMs) * 1000;
};

interface Stage {
  readonly url: string;
  readonly pool: pg.Pool;
  readonly projectId: string;
  /** Ids without their prefix. */
  readonly accounts: readonly string[];
}

const prepareStage = async (url: string): Promise<Stage> => {
  await migrateDeploy(url, MIGRATIONS);
  const pool = new pg.Pool({ connectionString: url, max: POOL_SIZE });
  const projectId = newId("project");
  return { url, pool, projectId, accounts: await seedAccounts(pool, projectId, ACCOUNTS) };
};

/**
 * Implementation (a), the lower bound: inserts one row, with the same driver, connections and
 * number of requests in flight.
 */
const limit = async ({ pool, accounts }: Stage): Promise<Task> => {
  await pool.query(
    "CREATE TABLE bench_row (id uuid PRIMARY KEY, source uuid NOT NULL, target uuid NOT NULL, amount numeric(78,0) NOT NULL)",
  );
  return () =>
    pool.query({
      name: "limit",
      text: "INSERT INTO bench_row VALUES ($1, $2, $3, $4)",
      values: [randomUUID(), anyOf(accounts), anyOf(accounts), 1],
    });
};

const anyOf = (accounts: readonly string[]): string =>
  accounts[Math.floor(Math.random() * accounts.length)] ?? "";

const otherThan = (accounts: readonly string[], one: string): string => {
  const other = anyOf(accounts);
  return other === one ? otherThan(accounts, one) : other;
};

/**
 * Chooses the accounts of a transfer: spread over all accounts, or (`hot`) between one account and
 * all others. The hot account pays as often as it is paid.
 */
const pairOf = (
  accounts: readonly string[],
  hot: boolean,
  number: number,
): readonly [string, string] => {
  const one = hot ? (accounts[0] ?? "") : anyOf(accounts);
  const other = otherThan(accounts, one);
  return number % 2 === 0 ? [one, other] : [other, one];
};

const ours =
  (ledger: LedgerService, { projectId, accounts }: Stage, hot: boolean): Task =>
  (number) => {
    const [from, to] = pairOf(accounts, hot, number);
    return ledger.transfer({
      projectId,
      key: randomUUID(),
      by: "bench",
      from: `ga_${from}`,
      to: `ga_${to}`,
      amountBase: 1n,
      currency: "usdc",
    });
  };

/**
 * Implementation (b): one SQL function per transfer, with one round trip and one commit. The
 * function locks both accounts, checks the balance and writes the rows of the transfer.
 */
const sqlFunction = async ({ pool, projectId, accounts }: Stage): Promise<Task> => {
  await pool.query(LEDGER_FUNCTION);
  return (number) => {
    const [from, to] = pairOf(accounts, true, number);
    const values = [projectId, from, to, 1, randomUUID()];
    return pool.query({
      name: "function",
      text: "SELECT bench_transfer($1, $2, $3, $4, $5)",
      values,
    });
  };
};

/** Implementation (c): the steps of (b) as an interactive transaction of an ORM. */
const orm = (prisma: PrismaClient, { projectId, accounts }: Stage): Task => {
  return async (number) => {
    const [from, to] = pairOf(accounts, true, number);
    await prisma.$transaction(
      async (tx) => {
        await tx.$queryRaw`SELECT 1 FROM ledger_account WHERE id IN (${from}::uuid, ${to}::uuid) ORDER BY id FOR UPDATE`;
        const rows = await tx.ledgerAccount.findMany({ where: { id: { in: [from, to] } } });
        const source = rows.find(({ id }) => id === from);
        const target = rows.find(({ id }) => id === to);
        if (!source || !target || source.balance.lessThan(1)) throw new Error("no");
        const now = new Date();
        const { id: transactionId } = await tx.ledgerTransaction.create({
          data: {
            id: randomUUID(),
            projectId,
            kind: "transfer",
            scope: "transfer",
            idempotencyKey: randomUUID(),
            keyHash: randomUUID(),
            requestDigest: Buffer.alloc(32),
            createdBy: "bench",
            createdAt: now,
          },
        });
        for (const [row, amount] of [
          [source, -1],
          [target, 1],
        ] as const) {
          const balance = row.balance.plus(amount);
          const seq = row.lastSeq + 1n;
          const entry = {
            projectId,
            accountId: row.id,
            seq,
            transactionId,
            currency: "usdc",
            amount,
          };
          await tx.ledgerEntry.create({
            data: { ...entry, balanceAfter: balance, createdAt: now },
          });
          const version = row.version + 1n;
          await tx.ledgerAccount.update({
            where: { id: row.id },
            data: { balance, lastSeq: seq, version },
          });
        }
      },
      { maxWait: PRISMA_TIMEOUT_MS, timeout: PRISMA_TIMEOUT_MS },
    );
  };
};

const report = (name: string, value: string, goal = ""): void =>
  console.log(`${name.padEnd(46)}${value.padStart(14)}  ${goal}`);

const perSecond = (value: number): string => `${value.toFixed(0)}/s`;

const compare = async (stage: Stage, peer: Stage): Promise<void> => {
  const ledger = createLedgerService({
    repository: createLedgerRepository(stage.url, { poolSize: POOL_SIZE }),
    clock: systemClock,
  });
  const prisma = new PrismaClient({
    adapter: new PrismaPg({
      connectionString: peer.url,
      max: POOL_SIZE,
      connectionTimeoutMillis: PRISMA_TIMEOUT_MS,
    }),
  });
  const tasks: Record<string, Task> = {
    limit: await limit(peer),
    spread: ours(ledger, stage, false),
    hot: ours(ledger, stage, true),
    function: await sqlFunction(peer),
    orm: orm(prisma, peer),
  };
  const found = Object.fromEntries(
    Object.keys(tasks).map((name): [string, number[]] => [name, []]),
  );
  // The implementations take turns in each round, so that other load on the machine affects all of
  // them.
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, task] of Object.entries(tasks)) found[name]?.push(await throughput(task));
  await ledger.close();
  await prisma.$disconnect();
  const at = (name: string): number => median(found[name] ?? []);
  report("(a) the limit: one-row inserts", perSecond(at("limit")));
  report(`ours, spread over ${String(ACCOUNTS)} accounts`, perSecond(at("spread")));
  report("ours, one hot account", perSecond(at("hot")));
  report("(b) one SQL function, hot", perSecond(at("function")));
  report("(c) an ORM's transaction, hot", perSecond(at("orm")));
  report("spread : limit", (at("spread") / at("limit")).toFixed(2), "goal 0.6");
  report("hot : spread", (at("hot") / at("spread")).toFixed(2), "goal 0.9");
  report("hot : (b)", (at("hot") / at("function")).toFixed(1), "goal 5");
  report("hot : (c)", (at("hot") / at("orm")).toFixed(1), "goal 30");
};

const walBytes = async (pool: pg.Pool): Promise<number> => {
  const { rows } = await pool.query<{ bytes: string }>(
    "SELECT pg_current_wal_lsn() - '0/0' AS bytes",
  );
  return Number(rows[0]?.bytes);
};

/**
 * Returns CPU seconds by process id: for each process of PostgreSQL, and for this process under
 * the id 0.
 */
const processorTimes = (postmaster: number): Map<number, number> => {
  const children = readFileSync(
    `/proc/${String(postmaster)}/task/${String(postmaster)}/children`,
    "utf8",
  );
  const { user, system } = process.cpuUsage();
  const times = new Map([[0, (user + system) / 1e6]]);
  for (const pid of children.trim().split(" ")) {
    // Splits after the process name, which may contain blanks. User and system time are fields 14
    // and 15 of proc(5), in ticks.
    const fields = (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1] ?? "").split(" ");
    times.set(Number(pid), (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS);
  }
  return times;
};

/**
 * Returns the CPU seconds used since `before` by PostgreSQL and this process, without those of
 * other programs. Database connections that ended since `before` were idle, so their missing time
 * does not matter.
 */
const processorTimeSince = (postmaster: number, before: ReadonlyMap<number, number>): number =>
  [...processorTimes(postmaster)].reduce(
    (sum, [pid, seconds]) => sum + seconds - (before.get(pid) ?? 0),
    0,
  );

/**
 * Measures one size of the ledger.
 * @returns CPU microseconds per transfer
 */
const measureSize = async (
  stage: Stage,
  peer: Task,
  postmaster: number,
  millions: number,
): Promise<number> => {
  const { pool } = stage;
  const limitBefore = await throughput(peer);
  const ledger = createLedgerService({
    repository: createLedgerRepository(stage.url, { poolSize: POOL_SIZE }),
    clock: systemClock,
  });
  let count = 0;
  const transfer = ours(ledger, stage, false);
  const counted: Task = async (number) => {
    await transfer(number);
    count += 1;
  };
  const [wal, cpu] = [await walBytes(pool), processorTimes(postmaster)];
  const value = await throughput(counted, LONG_MEASURE_MS);
  const [walEach, cpuEach] = [
    ((await walBytes(pool)) - wal) / count,
    (processorTimeSince(postmaster, cpu) / count) * 1e6,
  ];
  await ledger.close();
  const share = value / ((limitBefore + (await throughput(peer))) / 2);
  const costs = `${share.toFixed(2)} of (a), ${cpuEach.toFixed(0)} µs CPU and ${walEach.toFixed(0)} B of WAL each`;
  report(`spread, at ${String(millions)} million entries`, perSecond(value), costs);
  return cpuEach;
};

const growth = async (stage: Stage, peer: Task, postmaster: number): Promise<void> => {
  const measured: number[] = [];
  let rounds = 0;
  for (const millions of [1, 2, 5, 10]) {
    rounds = await seedEntries(stage.pool, stage.projectId, {
      from: rounds,
      entries: millions * MILLION,
    });
    await stage.pool.query("VACUUM ANALYZE ledger_account, ledger_transaction, ledger_entry");
    await stage.pool.query("CHECKPOINT");
    measured.push(await measureSize(stage, peer, postmaster, millions));
  }
  report(
    "CPU each, 10 million : 1 million",
    ((measured.at(-1) ?? 0) / (measured[0] ?? 1)).toFixed(2),
    "goal: flat",
  );
};

const verified = async ({ pool }: Stage): Promise<void> => {
  const { figures, violations } = await verifyLedger(pool);
  for (const violation of violations) console.error(violation);
  report(
    "entries, all added up again",
    String(figures.entries),
    violations.length === 0 ? "whole" : "BROKEN",
  );
};

export const run = async (args: readonly string[]): Promise<void> => {
  const workspace = await makeWorkspace();
  const postgres = await startEmbeddedPostgres({
    dataDir: `${workspace.folder}/postgres`,
    durability: "full",
  });
  const pools: pg.Pool[] = [];
  try {
    const stages: Stage[] = [];
    for (const name of ["ours", "peers"]) {
      await postgres.ensureDatabase(name);
      const stage = await prepareStage(postgres.url(name));
      stages.push(stage);
      pools.push(stage.pool);
    }
    const [stage, peer] = stages;
    if (!stage || !peer) return;
    console.log(
      `${String(IN_FLIGHT)} in flight, ${String(POOL_SIZE)} connections, durable PostgreSQL`,
    );
    if (args.includes("--long")) await growth(stage, await limit(peer), postgres.pid);
    else await compare(stage, peer);
    await verified(stage);
  } finally {
    await Promise.all(pools.map((pool) => pool.end()));
    await postgres.stop();
    workspace.remove();
  }
};
