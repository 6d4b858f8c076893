/**
 * Creates the metrics of a process and adds metrics to its jobs. Calls to chains and signers are
 * measured where the clients of chains and signers are built.
 */
import { privateKeyToAddress } from "viem/accounts";
import { sqlOn } from "@/lib/platform/db/sql";
import { backlogSamplers } from "@/lib/composition/metrics/backlog-sampler";
import { measuredJobs } from "@/lib/composition/metrics/call-metrics";
import {
  depositSampler,
  headSampler,
  poolSampler,
  type PoolUse,
  reserveSampler,
  screeningSampler,
  signingSampler,
} from "@/lib/composition/metrics/samplers";
import { gasSamplers } from "@/lib/composition/metrics/gas-samplers";
import {
  backupSampler,
  driftSampler,
  guessSampler,
} from "@/lib/composition/metrics/upkeep-samplers";
import { createEndObserver } from "@/lib/composition/metrics/metrics";
import { createMetrics, type Sampler } from "@/lib/platform/telemetry/registry";
import type { StartChecks } from "@/lib/chain/start-checks";
import type { Money } from "./money";
import type { Platform } from "./platform";

type JobHandler = (id: string, signal: AbortSignal) => Promise<{ readonly done: boolean }>;

interface Measured {
  readonly money: Pick<Money, "reserves" | "ledgerPool">;
  /** Samplers of parts that have their own connections or counts. */
  readonly samplers: Readonly<Record<string, Sampler>>;
  readonly providerContracts: StartChecks["providerContracts"];
}

export const buildTelemetry = (
  platform: Platform,
  { money, samplers, providerContracts }: Measured,
) => {
  const { config, database, registry, clock, errorLog } = platform;
  const sql = sqlOn(database.pool);
  const executorAddresses = config.executorPrivateKeys.map((key) => privateKeyToAddress(key));
  const pools: Record<string, PoolUse> = { shared: database.pool, ledger: money.ledgerPool };
  const facts = {
    providerContracts,
    executor: executorAddresses[0] ?? null,
    bundlerChainIds: new Set(config.bundlerUrls.keys()),
  };
  const metrics = createMetrics({
    samplers: {
      ...backlogSamplers(sql),
      heads: headSampler({ registry, clock }),
      ...gasSamplers({ registry, sql, executorAddresses }),
      reserves: reserveSampler({ sql, reserves: money.reserves }),
      screening: screeningSampler({ sql, clock }),
      deposits: depositSampler({ sql, clock }),
      signing: signingSampler(platform.signing),
      pools: poolSampler(pools),
      backup: backupSampler(sql),
      guesses: guessSampler({ sql, clock }),
      drift: driftSampler({ chains: config.chains, facts, log: errorLog }),
      ...samplers,
    },
    clock,
    log: errorLog,
  });
  const observeEnded = createEndObserver(sql);
  const noted =
    (handler: JobHandler): JobHandler =>
    async (id, signal) => {
      const result = await handler(id, signal);
      if (result.done) void observeEnded(id);
      return result;
    };
  return {
    metrics,
    /**
     * Adds metrics to job handlers. The handlers of operations also report how the operation ended.
     */
    measureJobs: <Handlers extends Readonly<Record<string, JobHandler>>>(
      handlers: Handlers,
    ): Handlers => {
      const withEnds = Object.entries(handlers).map(([queue, handler]) => [
        queue,
        queue === "operation" || queue === "privacy" ? noted(handler) : handler,
      ]);
      return measuredJobs(Object.fromEntries(withEnds) as Handlers);
    },
  };
};
