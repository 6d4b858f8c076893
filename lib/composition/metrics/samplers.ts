import type { Clock } from "@/lib/core/clock";
import type { SqlReader } from "@/lib/platform/db/sql";
import { gauge, type Sampler } from "@/lib/platform/telemetry/registry";
import type { ChainRegistry } from "@/lib/chain/registry";

// Deposits in quarantine, and the progress of the search for deposits.

const DEPOSITS_FRESH_MS = 10_000;

const quarantined = gauge({
  name: "causeway_deposits_quarantined",
  help: "Deposits that wait for a person; counted up to 10,000",
});
const oldest = gauge({
  name: "causeway_deposit_quarantined_oldest_seconds",
  help: "Age of the oldest deposit that waits for a person; 0 without one",
});
const searched = gauge({
  name: "causeway_deposit_search_age_seconds",
  help: "Time since the search for deposits of a chain moved on",
  labels: ["chain"],
});

const QUARANTINED = `
  SELECT count(*)::int AS count, min(detected_at) AS oldest
  FROM (SELECT detected_at FROM deposit WHERE state = 'quarantined' LIMIT 10000) AS waiting`;

const SEARCHED = `SELECT chain_id AS "chainId", updated_at AS "updatedAt" FROM deposit_scan`;

export const depositSampler = ({
  sql,
  clock,
}: {
  readonly sql: SqlReader;
  readonly clock: Clock;
}): Sampler => ({
  freshMs: DEPOSITS_FRESH_MS,
  sample: async () => {
    const nowMs = clock.now().getTime();
    const [waiting] = await sql.query<{ count: number; oldest: Date | null }>(QUARANTINED, []);
    quarantined.set({}, waiting?.count ?? 0);
    oldest.set({}, waiting?.oldest == null ? 0 : (nowMs - waiting.oldest.getTime()) / 1000);
    for (const { chainId, updatedAt } of await sql.query<{ chainId: number; updatedAt: Date }>(
      SEARCHED,
      [],
    ))
      searched.set({ chain: String(chainId) }, (nowMs - updatedAt.getTime()) / 1000);
  },
});

const connections = gauge({
  name: "causeway_database_connections",
  help: "Connections of this process to PostgreSQL, by pool and state: used, idle",
  labels: ["pool", "state"],
});
const connectionsMax = gauge({
  name: "causeway_database_connections_max",
  help: "Connections that the pool may open",
  labels: ["pool"],
});
const waiting = gauge({
  name: "causeway_database_connections_waiting",
  help: "Requests and jobs that wait for a connection of the pool",
  labels: ["pool"],
});

export interface PoolUse {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max?: number };
}

/**
 * Samples the connection pools of this process. Their counters are in memory, so no sample is
 * reused.
 */
export const poolSampler = (pools: Readonly<Record<string, PoolUse>>): Sampler => ({
  freshMs: 0,
  sample: () => {
    for (const [pool, { totalCount, idleCount, waitingCount, options }] of Object.entries(
      pools,
    )) {
      connections.set({ pool, state: "used" }, totalCount - idleCount);
      connections.set({ pool, state: "idle" }, idleCount);
      connectionsMax.set({ pool }, options.max ?? 0);
      waiting.set({ pool }, waitingCount);
    }
    return Promise.resolve();
  },
});

// The newest blocks of the chains.

const HEADS_FRESH_MS = 5_000;

const headAge = gauge({
  name: "causeway_chain_head_lag_seconds",
  help: "Time since the newest block that this process has seen; it grows while the node does not answer",
  labels: ["chain"],
});
const headBlock = gauge({
  name: "causeway_chain_head_block",
  help: "Number of that block",
  labels: ["chain"],
});
interface ChainSamplerDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
}

/**
 * Runs `read` for each chain.
 * @throws AggregateError after all of them, when some failed
 */
export const eachChain = async (
  registry: Pick<ChainRegistry, "list">,
  read: (chainId: number) => Promise<void>,
): Promise<void> => {
  const results = await Promise.allSettled(registry.list().map(({ id }) => read(id)));
  const errors = results.flatMap((result) =>
    result.status === "rejected" ? [result.reason as unknown] : [],
  );
  if (errors.length > 0)
    throw new AggregateError(errors, `${String(errors.length)} chain(s) did not answer.`);
};

export const headSampler = ({ registry, clock }: ChainSamplerDeps): Sampler => {
  const startedMs = clock.now().getTime();
  /**
   * For each chain id, the time of the newest block in milliseconds. A chain that never answered
   * has no entry and uses the time at which this process started.
   */
  const newestMs = new Map<number, number>();
  const show = (chainId: number): void => {
    const ageMs = clock.now().getTime() - (newestMs.get(chainId) ?? startedMs);
    headAge.set({ chain: String(chainId) }, Math.max(0, ageMs) / 1000);
  };
  return {
    freshMs: HEADS_FRESH_MS,
    sample: () => {
      // Set before the nodes are queried, because a hanging node answers after the deadline.
      for (const { id } of registry.list()) show(id);
      return eachChain(registry, async (chainId) => {
        const { number, timestamp } = await registry
          .client(chainId)
          .getBlock({ blockTag: "latest" });
        newestMs.set(chainId, Number(timestamp) * 1000);
        headBlock.set({ chain: String(chainId) }, Number(number));
        show(chainId);
      });
    },
  };
};

// How long the imported sanctions lists are still valid.

const SCREENING_FRESH_MS = 60_000;

const validity = gauge({
  name: "causeway_screening_list_valid_seconds",
  help: "Seconds for which the newest version of a sanctions list is still valid; below zero it is out of date",
  labels: ["list"],
});

const NEWEST = `
  SELECT DISTINCT ON (name) name, valid_until AS "validUntil" FROM screening_list ORDER BY name, version DESC`;

export const screeningSampler = ({
  sql,
  clock,
}: {
  readonly sql: SqlReader;
  readonly clock: Clock;
}): Sampler => ({
  freshMs: SCREENING_FRESH_MS,
  sample: async () => {
    const lists = await sql.query<{ name: string; validUntil: Date }>(NEWEST, []);
    validity.reset();
    for (const { name, validUntil } of lists)
      validity.set({ list: name }, (validUntil.getTime() - clock.now().getTime()) / 1000);
  },
});

const SIGNING_FRESH_MS = 1_000;

const off = gauge({
  name: "causeway_signing_off",
  help: "1 while nothing is signed, because the database was restored or another server took over; 0 otherwise",
});

export const signingSampler = ({
  state,
}: {
  state(): Promise<{ readonly isAllowed: boolean }>;
}): Sampler => ({
  freshMs: SIGNING_FRESH_MS,
  sample: async () => {
    off.set((await state()).isAllowed ? 0 : 1);
  },
});

// Whether the treasuries still hold the money owed to global accounts.

const RESERVES_FRESH_MS = 60_000;
/** Number of projects per sample; the next sample continues after them. */
const PROJECTS_MAX = 20;

const coverage = gauge({
  name: "causeway_reserve_coverage_ratio",
  help: "What backs the global accounts on chain divided by what they are owed, of the project where it is lowest",
  labels: ["asset"],
});

interface ProjectReserves {
  readonly asset: { readonly symbol: string };
  readonly positions: readonly { readonly backs: boolean; readonly finalBase: bigint | null }[];
  readonly onChainBase: bigint;
  readonly committedBase: bigint;
  readonly liabilitiesBase: bigint;
}

interface ReserveSamplerDeps {
  readonly sql: SqlReader;
  readonly reserves: { list(projectId: string): Promise<readonly ProjectReserves[]> };
}

const PROJECTS = `
  SELECT DISTINCT project_id AS "projectId" FROM ledger_account
  WHERE kind = 'treasury_reserve' AND balance < 0 AND project_id > $1 ORDER BY 1 LIMIT ${String(PROJECTS_MAX)}`;

/**
 * For each asset's symbol, the ratio of the reserves to the liabilities; null when a chain did not
 * answer.
 */
const ratiosOf = (reserves: readonly ProjectReserves[]): Map<string, number | null> =>
  new Map(
    reserves
      .filter(({ liabilitiesBase }) => liabilitiesBase > 0n)
      .map(({ asset, positions, onChainBase, committedBase, liabilitiesBase }) => {
        const isKnown = positions.every(({ backs, finalBase }) => !backs || finalBase !== null);
        return [
          asset.symbol,
          isKnown ? Number(onChainBase - committedBase) / Number(liabilitiesBase) : null,
        ];
      }),
  );

export const reserveSampler = ({ sql, reserves }: ReserveSamplerDeps): Sampler => {
  const known = new Map<string, Map<string, number>>();
  let seen = new Set<string>();
  let after = "";

  const show = (): void => {
    const lowest = new Map<string, number>();
    for (const ratios of known.values())
      for (const [asset, ratio] of ratios)
        lowest.set(asset, Math.min(ratio, lowest.get(asset) ?? Infinity));
    coverage.reset();
    for (const [asset, ratio] of lowest) coverage.set({ asset }, ratio);
  };

  const read = async (projectId: string): Promise<void> => {
    const before = known.get(projectId);
    const ratios = new Map<string, number>();
    for (const [asset, ratio] of ratiosOf(await reserves.list(projectId))) {
      const shown = ratio ?? before?.get(asset);
      if (shown !== undefined) ratios.set(asset, shown);
    }
    known.set(projectId, ratios);
  };

  return {
    freshMs: RESERVES_FRESH_MS,
    sample: async () => {
      const page = await sql.query<{ projectId: string }>(PROJECTS, [after]);
      for (const { projectId } of page) seen.add(projectId);
      await Promise.all(page.map(({ projectId }) => read(projectId)));
      after = page.length < PROJECTS_MAX ? "" : (page.at(-1)?.projectId ?? "");
      if (after === "") {
        for (const projectId of known.keys()) if (!seen.has(projectId)) known.delete(projectId);
        seen = new Set();
      }
      show();
    },
  };
};
