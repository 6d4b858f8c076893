/**
 * Facts that only the operator can act on: the age of the backup, the replica's lag, wrong
 * one-time codes, and chains that no longer fit the configuration.
 */
import { compareFacts, type StartChecks } from "@/lib/chain/start-checks";
import type { Clock } from "@/lib/core/clock";
import type { ChainConfig } from "@/lib/platform/config/chains";
import type { SqlReader } from "@/lib/platform/db/sql";
import { gauge, type Sampler } from "@/lib/platform/telemetry/registry";
import { countWrongGuesses } from "@/lib/trust/proofs/code-limits-repository";

const BACKUP_FRESH_MS = 60_000;

const backupAge = gauge({
  name: "causeway_backup_age_seconds",
  help: "Time since the newest backup that was recorded; without any, time since the database was made",
});

// The first migration's time is the age of a database that was never backed up.
const BACKUP_AGE = `
  SELECT extract(epoch FROM now() - coalesce(
    (SELECT max(ended_at) FROM backup_record),
    (SELECT min(finished_at) FROM _prisma_migrations)))::float8 AS seconds`;

export const backupSampler = (sql: SqlReader): Sampler => ({
  freshMs: BACKUP_FRESH_MS,
  sample: async () => {
    const [row] = await sql.query<{ seconds: number | null }>(BACKUP_AGE, []);
    if (row?.seconds == null) backupAge.reset();
    else backupAge.set(Math.max(0, row.seconds));
  },
});

const GUESSES_FRESH_MS = 10_000;
const HOUR_MS = 3_600_000;

const wrongCodes = gauge({
  name: "causeway_wrong_codes",
  help: "Wrong one-time codes of the last hour",
});
const wrongCodesMost = gauge({
  name: "causeway_wrong_codes_most",
  help: "Wrong one-time codes of the last hour, of the person or API key with the most; with 20 the service refuses to check more",
});

export const guessSampler = ({
  sql,
  clock,
}: {
  readonly sql: SqlReader;
  readonly clock: Clock;
}): Sampler => ({
  freshMs: GUESSES_FRESH_MS,
  sample: async () => {
    const since = new Date(clock.now().getTime() - HOUR_MS);
    const { count, most } = await countWrongGuesses(sql, since);
    wrongCodes.set(count);
    wrongCodesMost.set(most);
  },
});

const REPLICA_FRESH_MS = 2_000;

const replicaLag = gauge({
  name: "causeway_replica_lag_seconds",
  help: "Age of the newest transaction that DATABASE_REPLICA_URL is known to have; it grows while the replica does not answer. Missing without a replica",
});

/** @param readLag rejects while the replica does not answer or is no replica */
export const replicaSampler = ({
  readLag,
  clock,
}: {
  readLag(): Promise<number>;
  readonly clock: Clock;
}): Sampler => {
  let newestMs = clock.now().getTime();
  const show = (): void => replicaLag.set(Math.max(0, clock.now().getTime() - newestMs) / 1000);
  return {
    freshMs: REPLICA_FRESH_MS,
    sample: async () => {
      show();
      newestMs = clock.now().getTime() - (await readLag()) * 1000;
      show();
    },
  };
};

/** A comparison asks every contract of a chain, so it is made seldom. */
const DRIFT_FRESH_MS = 30 * 60_000;

const drift = gauge({
  name: "causeway_chain_fact_drift",
  help: "Facts of the configuration that the chain contradicts: chain id, contracts, tokens, kind of rollup. Compared each half hour",
  labels: ["chain"],
});

/**
 * Repeats the comparison that a start makes. Keeps the last result of a chain that does not answer.
 */
export const driftSampler = ({
  chains,
  facts,
  log,
}: {
  readonly chains: readonly ChainConfig[];
  readonly facts: Omit<StartChecks, "chains">;
  readonly log: { warn(fields: object, message: string): void };
}): Sampler => ({
  freshMs: DRIFT_FRESH_MS,
  sample: async () => {
    await Promise.all(
      chains.map(async (chain) => {
        const faults = await compareFacts(chain, facts);
        if (faults === null) return;
        drift.set({ chain: String(chain.id) }, faults.length);
        if (faults.length > 0)
          log.warn(
            { chainId: chain.id, faults },
            "the chain contradicts the configuration, and the next start would fail",
          );
      }),
    );
  },
});
