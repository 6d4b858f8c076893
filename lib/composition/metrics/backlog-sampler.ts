/** Samples the waiting work in the database. Every process reports the same numbers. */
import type { SqlReader } from "@/lib/platform/db/sql";
import { gauge, type Sampler } from "@/lib/platform/telemetry/registry";

const FRESH_MS = 5_000;
/** Maximum number of rows per sample; a larger backlog is reported as this number. */
const ROWS_MAX = 10_000;
const QUEUES = ["operation", "privacy", "payout", "mail"] as const;

const operations = gauge({
  name: "causeway_operations",
  help: "Operations that have not ended, by kind and state: awaiting_approval, pending, processing; counted up to 10,000",
  labels: ["kind", "state"],
});
const oldestOperation = gauge({
  name: "causeway_operation_oldest_seconds",
  help: "Age of the oldest of those operations",
  labels: ["kind", "state"],
});
const legs = gauge({
  name: "causeway_operation_legs",
  help: "Legs of operations that have not ended, by phase and provider of the route",
  labels: ["phase", "provider"],
});
const jobs = gauge({
  name: "causeway_jobs",
  help: "Jobs by state: running, due (a worker should take it now), waiting (for their time), parked (failed too often); counted up to 10,000",
  labels: ["queue", "state"],
});
const jobLag = gauge({
  name: "causeway_job_lag_seconds",
  help: "For how long the first due job has waited for a worker; 0 without one",
  labels: ["queue"],
});
const payouts = gauge({
  name: "causeway_payouts_open",
  help: "Payouts under way, by kind",
  labels: ["kind"],
});
const payoutRows = gauge({
  name: "causeway_payout_rows_waiting",
  help: "Rows of those payouts that are neither paid nor failed",
  labels: ["kind"],
});
const oldestPayout = gauge({
  name: "causeway_payout_oldest_seconds",
  help: "Age of the oldest payout under way",
  labels: ["kind"],
});
const doubts = gauge({
  name: "causeway_payout_doubts",
  help: "Batches of payouts in doubt, about which a person has to decide; counted up to 10,000",
});
const mails = gauge({
  name: "causeway_mail_waiting",
  help: "Mails in the outbox, counted up to 10,000",
});
const oldestMail = gauge({
  name: "causeway_mail_oldest_seconds",
  help: "Age of the oldest mail in the outbox; 0 without one",
});
const transactions = gauge({
  name: "causeway_chain_transactions_open",
  help: "The service's own transactions that are not final, by chain and status: signed, broadcast, mined; counted up to 10,000",
  labels: ["chain", "status"],
});
const oldestTransaction = gauge({
  name: "causeway_chain_transaction_oldest_seconds",
  help: "Age of the oldest of its transactions that is not mined",
  labels: ["chain"],
});

interface Group {
  readonly group: string;
  readonly count: number;
  readonly seconds: number | null;
}

// An operation or payout that has not ended has a job with the same id, so no statement scans the
// ended ones.
const OPEN = `SELECT id FROM job WHERE queue = ANY($1) ORDER BY run_at LIMIT ${String(ROWS_MAX)}`;

const OPERATIONS = `
  SELECT kind AS "group", state, count(*)::int AS count, extract(epoch FROM now() - min(created_at))::float AS seconds FROM (
    SELECT o.kind, o.status AS state, o.created_at FROM (${OPEN}) j JOIN operation o ON o.id = j.id
    UNION ALL
    (SELECT kind, 'awaiting_approval', created_at FROM operation WHERE status = 'pending' AND expires_at IS NOT NULL LIMIT ${String(ROWS_MAX)})
  ) open GROUP BY kind, state`;

const LEGS = `
  SELECT l.state AS "group", coalesce(l.route_leg ->> 'provider', 'onchain') AS provider, count(*)::int AS count
  FROM (${OPEN}) j JOIN operation_leg l ON l.operation_id = j.id
  WHERE l.state NOT IN ('completed', 'failed', 'refunded') GROUP BY 1, 2`;

const JOBS = `
  SELECT queue AS "group", count(*)::int AS count,
    (count(*) FILTER (WHERE locked_until > now()))::int AS running,
    (count(*) FILTER (WHERE due))::int AS due,
    (count(*) FILTER (WHERE parked_at IS NOT NULL))::int AS parked,
    extract(epoch FROM now() - min(greatest(run_at, coalesce(locked_until, run_at))) FILTER (WHERE due))::float AS seconds
  FROM (SELECT *, run_at <= now() AND parked_at IS NULL AND (locked_until IS NULL OR locked_until < now()) AS due FROM job
    ORDER BY run_at LIMIT ${String(ROWS_MAX)}) first
  GROUP BY queue`;

const PAYOUTS = `
  SELECT p.kind AS "group", count(*)::int AS count, extract(epoch FROM now() - min(p.created_at))::float AS seconds,
    sum(greatest(p.items_total - p.items_completed - p.items_failed, 0))::float AS rows
  FROM (${OPEN}) j JOIN payout p ON p.id = j.id GROUP BY p.kind`;

// The texts are those of the index `wallet_payout_batch_doubt_idx`.
const DOUBTS = `
  SELECT 'doubt' AS "group", count(*)::int AS count, NULL::float AS seconds
  FROM (SELECT 1 FROM wallet_payout_batch WHERE state = 'failed' AND failure ->> 'code' = 'source_replaced'
    LIMIT ${String(ROWS_MAX)}) waiting`;

const MAILS = `
  SELECT 'mail' AS "group", count(*)::int AS count, extract(epoch FROM now() - min(created_at))::float AS seconds
  FROM (SELECT created_at FROM mail_outbox LIMIT ${String(ROWS_MAX)}) waiting`;

const TRANSACTIONS = `
  SELECT chain_id::text AS "group", status, count(*)::int AS count, extract(epoch FROM now() - min(created_at))::float AS seconds
  FROM (SELECT chain_id, status, created_at FROM chain_transaction WHERE status IN ('signed', 'broadcast', 'mined')
    LIMIT ${String(ROWS_MAX)}) open
  GROUP BY chain_id, status`;

const sampleOperations = async (sql: SqlReader): Promise<void> => {
  const queues = [["operation", "privacy"]];
  const [found, phases] = await Promise.all([
    sql.query<Group & { state: string }>(OPERATIONS, queues),
    sql.query<Group & { provider: string }>(LEGS, queues),
  ]);
  operations.reset();
  oldestOperation.reset();
  legs.reset();
  for (const { group: kind, state, count, seconds } of found) {
    operations.set({ kind, state }, count);
    oldestOperation.set({ kind, state }, Math.max(0, seconds ?? 0));
  }
  for (const { group: phase, provider, count } of phases) legs.set({ phase, provider }, count);
};

const sampleJobs = async (sql: SqlReader): Promise<void> => {
  const found = await sql.query<Group & { running: number; due: number; parked: number }>(
    JOBS,
    [],
  );
  const byQueue = new Map(found.map((row) => [row.group, row]));
  for (const queue of new Set([...QUEUES, ...byQueue.keys()])) {
    const none = { count: 0, running: 0, due: 0, parked: 0, seconds: null };
    const { count, running, due, parked, seconds } = byQueue.get(queue) ?? none;
    jobs.set({ queue, state: "running" }, running);
    jobs.set({ queue, state: "due" }, due);
    jobs.set({ queue, state: "parked" }, parked);
    jobs.set({ queue, state: "waiting" }, count - running - due - parked);
    jobLag.set({ queue }, Math.max(0, seconds ?? 0));
  }
};

const samplePayouts = async (sql: SqlReader): Promise<void> => {
  const found = await sql.query<Group & { rows: number }>(PAYOUTS, [["payout"]]);
  for (const metric of [payouts, payoutRows, oldestPayout]) metric.reset();
  for (const { group: kind, count, seconds, rows } of found) {
    payouts.set({ kind }, count);
    payoutRows.set({ kind }, rows);
    oldestPayout.set({ kind }, Math.max(0, seconds ?? 0));
  }
};

const sampleDoubts = async (sql: SqlReader): Promise<void> => {
  const [row] = await sql.query<Group>(DOUBTS, []);
  doubts.set(row?.count ?? 0);
};

const sampleMails = async (sql: SqlReader): Promise<void> => {
  const [row] = await sql.query<Group>(MAILS, []);
  mails.set(row?.count ?? 0);
  oldestMail.set(Math.max(0, row?.seconds ?? 0));
};

const sampleTransactions = async (sql: SqlReader): Promise<void> => {
  const found = await sql.query<Group & { status: string }>(TRANSACTIONS, []);
  transactions.reset();
  oldestTransaction.reset();
  for (const { group: chain, status, count } of found)
    transactions.set({ chain, status }, count);
  const oldest = new Map<string, number>();
  for (const { group: chain, status, seconds } of found)
    if (status !== "mined") oldest.set(chain, Math.max(oldest.get(chain) ?? 0, seconds ?? 0));
  for (const [chain, seconds] of oldest) oldestTransaction.set({ chain }, seconds);
};

/** One sampler per kind of backlog, so that a failing statement does not hide the others. */
export const backlogSamplers = (sql: SqlReader): Readonly<Record<string, Sampler>> => {
  const every = (sample: (reader: SqlReader) => Promise<void>): Sampler => ({
    sample: () => sample(sql),
    freshMs: FRESH_MS,
  });
  return {
    operations: every(sampleOperations),
    jobs: every(sampleJobs),
    payouts: every(samplePayouts),
    doubts: every(sampleDoubts),
    mail: every(sampleMails),
    transactions: every(sampleTransactions),
  };
};
