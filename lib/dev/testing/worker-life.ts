import { startFaultProxy, type Stage } from "./fault-proxy";
import { startPgProxy, type Statement } from "./pg-proxy";
import type { StartWorkerProcess, WorkerProcess } from "./worker-process";

/**
 * A point in the worker's work at which it can be killed: just before a message leaves the
 * process, or after the message took effect. Reads and uncommitted writes have no `after` point,
 * because they have no effect by themselves and the point would equal the next `before`.
 */
export interface Point {
  readonly stage: Stage;
  readonly label: string;
  /** False for a read, and for a write inside a transaction that is still open. */
  readonly hasEffect: boolean;
}

export interface WorkerLife {
  readonly pid: number;
  begin(): Promise<void>;
  /** The point at which `dieAt` killed the process; null when it was killed from outside. */
  readonly ended: Promise<Point | null>;
  kill(): void;
  freeze(): void;
  thaw(): void;
}

export interface LifeOptions {
  readonly start: StartWorkerProcess;
  readonly databaseUrl: string;
  /** URLs of the chains themselves, by id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  /** The environment in addition to database and chains. */
  readonly variables: Readonly<Record<string, string>>;
  /** Called at every point, in order; at the first `true` the process is killed with kill -9. */
  readonly dieAt: (point: Point) => boolean;
  /** Milliseconds by which the clock of the process is ahead. Default 0. */
  readonly clockAheadMs?: number;
}

const BROADCAST = "eth_sendRawTransaction";
const WRITE = /^\s*(INSERT INTO|UPDATE|DELETE FROM)\s+(?:"public"\.)?"?([a-z_]+)/i;
/**
 * The writes inside a statement that begins with WITH. Locks (FOR UPDATE) and conflicts (DO UPDATE)
 * are not separate writes.
 */
const WRITES_WITHIN =
  /(?<!\b(?:FOR|DO|KEY)\s+)\b(INSERT INTO|UPDATE|DELETE FROM)\s+(?:"public"\.)?"?([a-z_]+)/gi;
const WITH = /^\s*WITH\b/i;
const COMMIT = /^\s*COMMIT/i;
const BEGIN = /^\s*BEGIN/i;
const ROLLBACK = /^\s*ROLLBACK/i;
const STEP_TABLES = ["operation_event", "wallet_payout_batch", "payout", "chain_transaction"];
/**
 * Prefix of tables whose writes are no points. A worker constantly claims endpoints, even if there
 * are none, and deliveries have separate kill tests.
 */
const DELIVERY_TABLES = "webhook_";
const EVENT = /\b(?:leg|operation)\.[a-z_]+/;
const END = /\boperation\.(?:completed|partially_completed|refunded|failed)\b/;
const POSITION = /"position":\s*(\d)/;
const STATUS = /\b(?:signed|broadcast|mined|final)\b/;
/**
 * Matches the new status in JSON parameters of an UPDATE, which also contain the allowed previous
 * states.
 */
const MARKED_STATUS = /(?<="status":\s*")(?:signed|broadcast|mined|final)\b/;
const BATCH_STATE = /\b(?:queued|signed|sent|mined|paid|failed|cancelled)\b/;

/**
 * Details of a write in addition to its table: the step of an event, or the new status of a
 * transaction or a batch.
 */
const detailOf = (table: string, parameters: string): string => {
  if (table === "operation_event")
    return `${EVENT.exec(parameters)?.[0] ?? ""} ${POSITION.exec(parameters)?.[1] ?? ""}${END.test(parameters) ? ", the end" : ""}`;
  if (table === "wallet_payout_batch") return BATCH_STATE.exec(parameters)?.[0] ?? "";
  if (table !== "chain_transaction") return "";
  return (MARKED_STATUS.exec(parameters) ?? STATUS.exec(parameters))?.[0] ?? "";
};

/**
 * The step that a transaction represents: the step of a leg if it contains one, otherwise the step
 * of the operation.
 */
const stepOf = (written: readonly string[]): string =>
  written.find((what) => what.includes("leg.")) ??
  written.find((what) => what.includes("operation.")) ??
  written.join();

interface Write {
  readonly verb: string;
  readonly table: string;
}

/** The writes of a statement, in order. */
const writesOf = (sql: string): readonly Write[] => {
  const found = WITH.test(sql) ? [...sql.matchAll(WRITES_WITHIN)] : [WRITE.exec(sql) ?? []];
  return found.flatMap(([, verb, table = ""]) =>
    verb === undefined || table.startsWith(DELIVERY_TABLES)
      ? []
      : [{ verb: verb.toUpperCase(), table }],
  );
};

interface Named {
  readonly label: string;
  readonly hasEffect: boolean;
}

/**
 * Names writes by their content, so that the same step has the same name in every run. Reads have
 * no name.
 */
const createNamer = () => {
  /** For each connection, the writes of its open transaction. */
  const written = new Map<number, string[]>();
  return ({ sql, parameters, connection }: Statement): Named | null => {
    const before = written.get(connection);
    if (COMMIT.test(sql) || ROLLBACK.test(sql)) written.delete(connection);
    if (BEGIN.test(sql)) written.set(connection, []);
    if (COMMIT.test(sql)) {
      return before === undefined || before.length === 0
        ? null
        : { label: `COMMIT ${stepOf(before)}`, hasEffect: true };
    }
    const writes = writesOf(sql);
    const steps = writes.filter(({ table }) => STEP_TABLES.includes(table));
    const main = steps[0] ?? writes[0];
    if (main === undefined) return null;
    const whatOf = ({ table }: Write): string =>
      `${table} ${detailOf(table, parameters)}`.trim();
    // Writes to `STEP_TABLES` give the later COMMIT its name. All other writes follow from them.
    before?.push(...steps.map(whatOf));
    // A write inside a transaction has no effect before the COMMIT, and a crash undoes it.
    return before === undefined
      ? { label: `${main.verb} ${whatOf(main)}`, hasEffect: true }
      : { label: `${main.verb} ${main.table}`, hasEffect: false };
  };
};

/**
 * A worker process whose traffic to the database and the chains passes through the test, which may
 * kill it at any message. After that none of its messages are delivered.
 */
export const startLife = async (options: LifeOptions): Promise<WorkerLife> => {
  let dead: Point | null = null;
  let child: WorkerProcess | null = null;
  const decide = (stage: Stage, points: readonly Named[]): "go" | "cut" => {
    if (dead !== null) return "cut";
    for (const { label, hasEffect } of points) {
      if (stage === "after" && !hasEffect) continue;
      if (!options.dieAt({ stage, label, hasEffect })) continue;
      dead = { stage, label, hasEffect };
      child?.kill();
      return "cut";
    }
    return "go";
  };
  const nameOf = createNamer();
  const names = new WeakMap<Statement, Named | null>();
  const database = await startPgProxy(options.databaseUrl, {
    watch: (stage, statement) => {
      const named = names.has(statement) ? (names.get(statement) ?? null) : nameOf(statement);
      names.set(statement, named);
      return decide(stage, named === null ? [] : [named]);
    },
  });
  const chains = await Promise.all(
    Object.entries(options.rpcUrls).map(async ([chainId, url]) => {
      // The label of a read leaves out the chain. A read changes nothing, so one point stands for
      // all chains.
      const named = (method: string): Named =>
        method === BROADCAST
          ? { label: `${method} ${chainId}`, hasEffect: true }
          : { label: method, hasEffect: false };
      const watch = (stage: Stage, methods: readonly string[]) =>
        decide(stage, [...new Set(methods)].map(named));
      return [chainId, await startFaultProxy(url, { watch })] as const;
    }),
  );
  const process = await options.start(
    {
      ...options.variables,
      DATABASE_URL: database.url,
      ...Object.fromEntries(chains.map(([chainId, { url }]) => [`RPC_URL_${chainId}`, url])),
    },
    { clockAheadMs: options.clockAheadMs ?? 0 },
  );
  child = process;
  const end = async (): Promise<Point | null> => {
    await process.exited;
    await Promise.all([database.close(), ...chains.map(([, proxy]) => proxy.close())]);
    return dead;
  };
  const { pid, begin, kill, freeze, thaw } = process;
  return { pid, begin, kill, freeze, thaw, ended: end() };
};
