/** Heads of the chains, and the coins that the service pays network fees from. */
import type { Address } from "viem";
import { readGasBalances } from "@/lib/chains/gas-balances";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { gauge, type Sampler } from "./registry";

const HEADS_FRESH_MS = 5_000;
const COINS_FRESH_MS = 30_000;

const headAge = gauge({
  name: "causeway_chain_head_lag_seconds",
  help: "Time since the newest block that this process has seen; it grows while the node does not answer",
  labels: ["chain"],
});
const headBlock = gauge({ name: "causeway_chain_head_block", help: "Number of that block", labels: ["chain"] });
const executorBalance = gauge({
  name: "causeway_executor_balance_coins",
  help: "What the executor has for network fees, in whole coins of the chain; of several keys the one with the least",
  labels: ["chain"],
});
const paymasterDeposit = gauge({
  name: "causeway_paymaster_deposit_coins",
  help: "What the paymaster has at EntryPoint for sponsored network fees, in whole coins of the chain",
  labels: ["chain"],
});

interface ChainSamplerDeps {
  readonly registry: ChainRegistry;
  readonly clock: Clock;
  readonly executorAddresses: readonly Address[];
}

/** Runs `read` for each chain. @throws AggregateError after all of them, when some failed */
const eachChain = async (registry: ChainRegistry, read: (chainId: number) => Promise<void>): Promise<void> => {
  const results = await Promise.allSettled(registry.list().map(({ id }) => read(id)));
  const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  if (errors.length > 0) throw new AggregateError(errors, `${String(errors.length)} chain(s) did not answer.`);
};

const headSampler = ({ registry, clock }: ChainSamplerDeps): Sampler => {
  const startedMs = clock.now().getTime();
  /** Time of the newest block of each chain. Before the first answer, the time at which this process started to ask. */
  const newestMs = new Map<number, number>();
  const show = (chainId: number): void => {
    const ageMs = clock.now().getTime() - (newestMs.get(chainId) ?? startedMs);
    headAge.set({ chain: String(chainId) }, Math.max(0, ageMs) / 1000);
  };
  return {
    freshMs: HEADS_FRESH_MS,
    sample: () => {
      // Shown before the nodes are asked, because one that hangs answers after the reading's deadline.
      for (const { id } of registry.list()) show(id);
      return eachChain(registry, async (chainId) => {
        const { number, timestamp } = await registry.client(chainId).getBlock({ blockTag: "latest" });
        newestMs.set(chainId, Number(timestamp) * 1000);
        headBlock.set({ chain: String(chainId) }, Number(number));
        show(chainId);
      });
    },
  };
};

const coinsSampler = ({ registry, executorAddresses }: ChainSamplerDeps): Sampler => ({
  freshMs: COINS_FRESH_MS,
  sample: () =>
    eachChain(registry, async (chainId) => {
      const { executor, paymaster } = await readGasBalances(registry, chainId, executorAddresses);
      const chain = String(chainId);
      if (executor !== null) executorBalance.set({ chain }, executor);
      if (paymaster !== null) paymasterDeposit.set({ chain }, paymaster);
    }),
});

export const chainSamplers = (deps: ChainSamplerDeps): Readonly<Record<string, Sampler>> => ({
  heads: headSampler(deps),
  coins: coinsSampler(deps),
});
