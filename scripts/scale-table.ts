/**
 * `npx tsx scripts/scale-table.ts`: computes the table of docs/scale.md from
 * `scripts/growth-figures.json`, which contains the measurements of `scripts/bench/instances.ts`
 * for one operation.
 */
import { readFileSync } from "node:fs";

interface PerOperation {
  /** Number of JSON-RPC calls. */
  readonly rpc: number;
  readonly tables: Readonly<Record<string, { readonly rows: number; readonly bytes: number }>>;
}

interface Figures {
  readonly transfers: PerOperation;
  /** Figures of transfers between global accounts, which use no chain. */
  readonly ledger: PerOperation;
  /** CPU milliseconds that one transfer takes in Node.js processes. */
  readonly nodeMs: number;
  /** CPU milliseconds that one transfer takes in PostgreSQL. */
  readonly postgresMs: number;
}

const PROJECTS = [1, 10, 100] as const;
const OPERATIONS = [1e4, 1e5, 1e6] as const;
const DAYS = 30;
const DAY_SECONDS = 86_400;
/** Load of the busiest hour, divided by the mean load. */
const PEAK = 3;
/** Highest planned load of a core, so that work does not queue during short peaks. */
const LOAD_MAX = 0.5;
/** Minimum number of processes of each kind. With two, the service survives the failure of one. */
const PROCESSES_MIN = 2;
const WEB_CONNECTIONS = 26;
const WORKER_CONNECTIONS = 20;
/**
 * Monthly prices of large clouds in US dollars: a core with its memory, a GB of disk with its
 * replica, and a million calls to a node.
 */
const PRICE = { core: 30, gigabyte: 0.2, millionCalls: 0.4 };
const GIGA = 1e9;
/** Tables whose rows are deleted within days, so their size does not grow from month to month. */
const SWEPT = new Set([
  "idempotency_key",
  "job",
  "api_request",
  "rpc_budget",
  "rate_window",
  "event_outbox",
  "notification_due",
]);
/** Share of a month's events that remain after archiving: the newest event of each object. */
const EVENTS_LEFT = 2 / 5;

const totals = ({
  tables,
}: PerOperation): { rows: number; bytes: number; archivedBytes: number } => {
  const kept = Object.entries(tables).filter(([table]) => !SWEPT.has(table));
  const sum = (of: (one: { rows: number; bytes: number }) => number): number =>
    kept.reduce((all, [, one]) => all + of(one), 0);
  const events = tables.event?.bytes ?? 0;
  return {
    rows: sum(({ rows }) => rows),
    bytes: sum(({ bytes }) => bytes),
    archivedBytes: events * (1 - EVENTS_LEFT),
  };
};

const short = (value: number): string => {
  const unit = [
    [1e12, " T"],
    [1e9, " G"],
    [1e6, " M"],
    [1e3, " k"],
  ].find(([from]) => value >= Number(from));
  const shown = unit === undefined ? value : value / Number(unit[0]);
  return `${shown >= 100 ? shown.toFixed(0) : String(Number(shown.toPrecision(2)))}${unit === undefined ? "" : String(unit[1])}`;
};

const line = (
  { transfers, nodeMs, postgresMs }: Figures,
  projects: number,
  each: number,
): string => {
  const operations = projects * each;
  const { rows, bytes, archivedBytes } = totals(transfers);
  const peakPerSecond = (operations / DAY_SECONDS) * PEAK;
  const cores = (ms: number): number => (peakPerSecond * ms) / 1000 / LOAD_MAX;
  // A process uses at most one core. Half of an operation's work is to accept it (web), the other
  // half is to execute it (worker).
  const processes = Math.max(PROCESSES_MIN, Math.ceil(cores(nodeMs) / 2));
  const postgresCores = Math.max(2, Math.ceil(cores(postgresMs)));
  const connections = processes * (WEB_CONNECTIONS + WORKER_CONNECTIONS);
  const monthBytes = operations * DAYS * bytes;
  const monthCalls = operations * DAYS * transfers.rpc;
  const computing = (Math.max(2 * PROCESSES_MIN, 2 * processes) + postgresCores) * PRICE.core;
  const cost =
    computing + (monthBytes / GIGA) * PRICE.gigabyte + (monthCalls / 1e6) * PRICE.millionCalls;
  return `| ${[
    String(projects),
    short(each),
    short(operations * DAYS * rows),
    `${short(monthBytes)}B, ${short(operations * DAYS * (bytes - archivedBytes))}B`,
    `${String(processes)} + ${String(processes)}, ${String(postgresCores)}`,
    String(connections),
    short(monthCalls),
    `$${short(cost)}`,
  ].join(" | ")} |`;
};

const main = (): void => {
  const figures = JSON.parse(
    readFileSync(new URL("growth-figures.json", import.meta.url), "utf8"),
  ) as Figures;
  for (const [name, one] of [
    ["transfer on a chain", figures.transfers],
    ["transfer between global accounts", figures.ledger],
  ] as const) {
    const { rows, bytes, archivedBytes } = totals(one);
    console.log(
      `${name}: ${rows.toFixed(1)} rows, ${bytes.toFixed(0)} bytes, ${(bytes - archivedBytes).toFixed(0)} after an archive, ${one.rpc.toFixed(1)} calls`,
    );
    for (const [table, { rows: count, bytes: size }] of Object.entries(one.tables))
      console.log(
        `  ${table.padEnd(24)}${count.toFixed(2).padStart(8)} rows ${String(size).padStart(7)} bytes${SWEPT.has(table) ? ", swept" : ""}`,
      );
  }
  console.log(
    "\n| Projects | Operations a day in each | Rows a month | Disk a month, of it after archives | Web + worker processes, cores of PostgreSQL | Connections | RPC calls a month | Cost a month |",
  );
  console.log("| --- | --- | --- | --- | --- | --- | --- | --- |");
  for (const projects of PROJECTS)
    for (const each of OPERATIONS) console.log(line(figures, projects, each));
};

main();
