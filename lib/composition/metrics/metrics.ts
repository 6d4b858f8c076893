import { onLineDropped } from "@/lib/platform/log/logger";
import { counter, gauge, histogram, type Sampler } from "@/lib/platform/telemetry/registry";
import { createBatcher } from "@/lib/core/batch";
import type { SqlReader } from "@/lib/platform/db/sql";
import type { Replica } from "@/lib/platform/db/replica";
import { isDomainError } from "@/lib/core/errors";
import { type Bundler, WaitsForTurnError } from "@/lib/chain/ports/bundler";

const droppedTotal = counter({
  name: "causeway_log_lines_dropped_total",
  help: "Log lines that could not be written",
});

export const countDroppedLines = (): void => onLineDropped(countOne);

// Every call of `countDroppedLines` adds this same function. The listeners are a set, so a second
// call does not count lines twice.
const countOne = (): void => droppedTotal.inc();

const finished = histogram({
  name: "causeway_operation_duration_seconds",
  help: "Time from the acceptance of an operation to its end, by kind and status",
  labels: ["kind", "status"],
  buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 86_400],
});

const ENDED = `
  SELECT kind, status, extract(epoch FROM updated_at - coalesce(accepted_at, created_at))::float AS seconds
  FROM operation WHERE id = ANY($1::text[])`;

const READS_MAX = 200;
const READ_EVERY_MS = 1000;

/**
 * Creates the function that counts an operation that has just ended. Operations that end while a
 * read runs are read together afterwards. The function never rejects, because a metric must not
 * make a job fail.
 */
export const createEndObserver = (sql: SqlReader): ((operationId: string) => Promise<void>) => {
  const { submit } = createBatcher({
    run: async (ids: readonly string[]) => {
      const rows = await sql.query<{ kind: string; status: string; seconds: number }>(ENDED, [
        ids,
      ]);
      for (const { kind, status, seconds } of rows)
        finished.observe({ kind, status }, Math.max(0, seconds));
      return ids.map(() => true as const);
    },
    batchWeightMax: READS_MAX,
    everyMs: READ_EVERY_MS,
  });
  return async (operationId) => {
    // The gauges of the database samplers show an outage, so the error is ignored.
    await submit(operationId).catch(() => undefined);
  };
};

// Counts the reads that may be slightly old, by the answering database: the replica or the primary.

const reads = counter({
  name: "causeway_replica_reads_total",
  help: "Reads that may be a little old, by the database that answered: replica, or primary where the replica was behind or silent",
  labels: ["database"],
});

export const observedReplica = (replica: Replica): Replica => ({
  has: async (place) => {
    const isEnough = await replica.has(place);
    reads.inc({ database: isEnough ? "replica" : "primary" });
    return isEnough;
  },
});

const refusals = counter({
  name: "causeway_bundler_refusals_total",
  help: "User operations that a bundler or EntryPoint refused, by stage (estimate, submit) and by the code of ERC-4337 (AAxx), or other",
  labels: ["chain", "stage", "code"],
});

interface Refusal {
  readonly chainId: number;
  readonly stage: "estimate" | "submit";
  readonly sender: string;
  readonly nonce: string;
}

const CODE = /^AA\d{2}$/;

const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** Counts and logs a user operation that was refused; ignores other errors. */
const note = (
  error: unknown,
  refusal: Refusal,
  log: { warn(fields: object, message: string): void },
): void => {
  const isRefusal =
    isDomainError(error) &&
    (error.code === "simulation_failed" || error.code === "provider_error");
  if (!isRefusal || error instanceof WaitsForTurnError) return;
  const code = textOf(error.extra.entryPointCode);
  const { chainId, stage } = refusal;
  refusals.inc({
    chain: String(chainId),
    stage,
    code: code !== null && CODE.test(code) ? code : "other",
  });
  // An estimate that fails without an EntryPoint code shows that the operation's call reverts. The
  // estimate is made to find that out, so this failure is not logged.
  if (stage === "estimate" && code === null) return;
  const reason = textOf(error.extra.reason) ?? error.message;
  log.warn({ ...refusal, entryPointCode: code, reason }, "a user operation was refused");
};

export const observedBundler = (
  bundler: Bundler,
  log: { warn(fields: object, message: string): void },
): Bundler => {
  const observe = async <T>(refusal: Refusal, call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      note(error, refusal, log);
      throw error;
    }
  };
  return {
    ...bundler,
    estimateGas: (chainId, operation) => {
      const { sender, nonce } = operation;
      const refusal = { chainId, stage: "estimate", sender, nonce: nonce.toString() } as const;
      return observe(refusal, () => bundler.estimateGas(chainId, operation));
    },
    submit: (chainId, operation, options) => {
      const { sender, nonce } = operation;
      const refusal = { chainId, stage: "submit", sender, nonce: nonce.toString() } as const;
      return observe(refusal, () => bundler.submit(chainId, operation, options));
    },
  };
};

const FRESH_MS = 2_000;
const LAG_BUCKETS = [0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1, 5, 60, 300, 3600, 86_400];

const callbacks = counter({
  name: "causeway_callbacks_total",
  help: "Callbacks of providers: new, repeated (delivered again), unknown (words that are not known), refused (bad signature)",
  labels: ["source", "outcome"],
});
const callbackLag = histogram({
  name: "causeway_callback_lag_seconds",
  help: "Time from a provider's signature to the receipt of the callback, where the signature has a time",
  labels: ["source"],
  buckets: LAG_BUCKETS,
});

const attempts = histogram({
  name: "causeway_webhook_attempt_duration_seconds",
  help: "Time of a webhook's request, by its outcome: delivered, retry (failed, and is tried again), failed (given up)",
  labels: ["outcome"],
  buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15],
});
const lag = histogram({
  name: "causeway_webhook_lag_seconds",
  help: "Time from an event to its delivery",
  buckets: LAG_BUCKETS,
});

const waitingEvents = gauge({
  name: "causeway_events_waiting",
  help: "Events without a number yet, counted up to 10,000",
});
const oldestEvent = gauge({
  name: "causeway_events_oldest_seconds",
  help: "Age of the oldest event without a number; 0 without one",
});
const waitingDeliveries = gauge({
  name: "causeway_webhook_waiting",
  help: "Deliveries to active endpoints that wait or are tried again, counted up to 100,000",
});
const oldestDelivery = gauge({
  name: "causeway_webhook_oldest_seconds",
  help: "Age of the oldest of those deliveries; 0 without one",
});
const endpoints = gauge({
  name: "causeway_webhook_endpoints",
  help: "Endpoints by state: active, failing (active, and the last attempt failed), paused, disabled",
  labels: ["state"],
});

export const callbackMetrics = {
  received: (source: string, outcome: string): void => callbacks.inc({ source, outcome }),
  delayed: (source: string, lagMs: number): void =>
    callbackLag.observe({ source }, Math.max(0, lagMs) / 1000),
};

export const deliveryMetrics = {
  attempted: (outcome: string, durationMs: number): void =>
    attempts.observe({ outcome }, durationMs / 1000),
  delivered: (lagMs: number): void => lag.observe(Math.max(0, lagMs) / 1000),
};

interface Backlog {
  readonly count: number;
  readonly oldest: Date | null;
}

interface Sampled {
  events(): Promise<Backlog>;
  deliveries(): Promise<Backlog>;
  endpoints(): Promise<Readonly<Record<"active" | "failing" | "paused" | "disabled", number>>>;
  readonly clock: { now(): Date };
}

/**
 * Samples waiting events and deliveries in the database. Every process reports the same numbers.
 */
export const webhookSampler = ({
  events,
  deliveries,
  endpoints: count,
  clock,
}: Sampled): Sampler => {
  const ageOf = ({ oldest }: Backlog): number =>
    oldest === null ? 0 : Math.max(0, clock.now().getTime() - oldest.getTime()) / 1000;
  const sample = async (): Promise<void> => {
    const [waiting, sending, states] = await Promise.all([events(), deliveries(), count()]);
    waitingEvents.set(waiting.count);
    oldestEvent.set(ageOf(waiting));
    waitingDeliveries.set(sending.count);
    oldestDelivery.set(ageOf(sending));
    for (const [state, number] of Object.entries(states)) endpoints.set({ state }, number);
  };
  return { sample, freshMs: FRESH_MS };
};
