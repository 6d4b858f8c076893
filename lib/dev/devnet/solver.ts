import { devAddress } from "./accounts";
import { planDeployments } from "./contracts";
import { createSolverChain } from "./across/chain";
import { createFairness } from "./across/fair-deposit";
import { createOrigin } from "./across/origin";
import type { DevnetChain } from "./devnet";
import type { Deposit } from "./across/spoke-pool";

/**
 * Time after which a loop runs again when nothing wakes it, for instance to retry a failed fill.
 */
const LOOK_INTERVAL_MS = 500;

export interface SolverOptions {
  readonly chains: readonly Pick<DevnetChain, "chainId" | "rpcUrl" | "onTransactions">[];
  readonly log: (message: string) => void;
}

export interface Solver {
  /** Stops all actions until `resume`. */
  pause(): void;
  resume(): void;
  /**
   * Does not fill deposits for which the predicate is true, but still refunds them.
   * @returns a function that removes the rule
   */
  ignore(predicate: (deposit: Deposit) => boolean): () => void;
  /** Ends the solver; resolves when no action is running any more. */
  stop(): Promise<void>;
}

/**
 * Runs `work` when woken and at each interval, never twice at the same time. `isWoken` is false
 * when only the interval has passed.
 */
const startLoop = (
  work: (isWoken: boolean) => Promise<void>,
  log: (message: string) => void,
) => {
  let stopped = false;
  let woken = true;
  let wakeUp: () => void = () => undefined;
  const run = async (): Promise<void> => {
    while (!stopped) {
      const isWoken = woken;
      woken = false;
      await work(isWoken).catch((error: unknown) => {
        if (!stopped)
          log(
            `The solver has to wait: ${error instanceof Error ? error.message : String(error)}`,
          );
      });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, woken || stopped ? 0 : LOOK_INTERVAL_MS);
        wakeUp = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  };
  const done = run();
  const wake = (): void => {
    woken = true;
    wakeUp();
  };
  return {
    wake,
    stop: async (): Promise<void> => {
      stopped = true;
      wake();
      await done;
    },
  };
};

/**
 * Relayer and settlement of the local chains. Fills deposits between these chains from the
 * relayer's inventory, and repays the relayer on the origin chain. Refunds deposits that nobody
 * filled in time on their origin chain. Each deposit is paid out exactly once. The solver has no
 * state of its own: after a stop at any moment it finds the remaining work on the chains.
 *
 * On public networks independent relayers and Across' own dataworkers do this work.
 */
export const startSolver = ({ chains, log }: SolverOptions): Solver => {
  const { contracts } = planDeployments();
  const { spokePool } = contracts;
  const relayer = devAddress("relayer");
  const ignored = new Set<(deposit: Deposit) => boolean>();
  let paused = false;
  const isFair = createFairness();
  const solverChains = new Map(
    chains.map((chain) => [chain.chainId, createSolverChain({ ...chain, spokePool, relayer })]),
  );
  // Called after `isFair`, which takes time, so that a pause or a rule that was set meanwhile has
  // an effect.
  const wants = (deposit: Deposit): boolean =>
    !paused && ![...ignored].some((predicate) => predicate(deposit));
  const loops = [...solverChains.values()].map((chain) => {
    const origin = createOrigin({
      origin: chain,
      chainOf: (chainId) => solverChains.get(chainId),
      spokePool,
      accepts: async (deposit, destination) =>
        (await isFair(deposit, destination)) && wants(deposit),
      onDue: () => {
        settlements.wake();
      },
      log,
    });
    // Settling runs in a separate loop, so that a new deposit never waits for the repayment of an
    // old one.
    let readAt = -Infinity;
    const fills = startLoop(async (isWoken) => {
      // A wake-up makes the next read due. `readAt` is set only after a successful read, so that a
      // chain that does not answer is read again at the next interval.
      if (isWoken) readAt = -Infinity;
      if (paused) return;
      if (performance.now() - readAt >= chain.readEveryMs) {
        await origin.read();
        readAt = performance.now();
      }
      origin.advance();
    }, log);
    const settlements = startLoop(async () => {
      if (!paused) await origin.settle();
    }, log);
    return { origin, fills, settlements, forget: chain.onLogs(fills.wake) };
  });
  const wakeAll = (): void => {
    for (const { fills } of loops) fills.wake();
  };
  return {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
      wakeAll();
    },
    ignore: (predicate) => {
      ignored.add(predicate);
      return () => {
        ignored.delete(predicate);
        wakeAll();
      };
    },
    stop: async () => {
      for (const { forget } of loops) forget();
      await Promise.all(
        loops.flatMap(({ fills, settlements }) => [fills.stop(), settlements.stop()]),
      );
      await Promise.all(loops.map(({ origin }) => origin.settled()));
    },
  };
};
