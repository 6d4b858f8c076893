import type { Address } from "viem";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { resolveDeposit, reason, type ResolveDeps } from "./resolve-deposit";
import {
  LEAF_ID_MAX,
  readDeposit,
  settleCall,
  type Deposit,
  type Settlement,
} from "./spoke-pool";

/** Maximum number of deposits that one transaction settles. Each deposit takes about 150k gas. */
const SETTLED_AT_ONCE_MAX = 20;

export interface OriginDeps extends ResolveDeps {
  /** Called when a deposit has become due. */
  readonly onDue: () => void;
}

type DepositState =
  | { readonly kind: "open" }
  /** Currently being read or filled. */
  | { readonly kind: "busy" }
  /** Filled, or expired unfilled: to be paid out to `to`. */
  | { readonly kind: "due"; readonly to: Address };

interface Entry {
  readonly deposit: Deposit;
  state: DepositState;
}

/**
 * Reads the deposits of one origin chain, fills them on their destination and settles them. All
 * state comes from the chains, so after a restart it begins at block 0 and finds every unsettled
 * deposit.
 */
export const createOrigin = (deps: OriginDeps) => {
  const { origin, spokePool, onDue, log } = deps;
  const open = new Map<bigint, Entry>();
  let nextBlock = 0n;
  let nextRootBundleId: number | null = null;
  const reads = createKeyedQueue();
  const working = new Set<Promise<void>>();

  const readOn = async (): Promise<void> => {
    // Counts the root bundles before it reads the logs. The log of a bundle that is added after the
    // count is then read here or later, and updates the number.
    nextRootBundleId ??= await origin.countRootBundles();
    const { logs, nextBlock: next } = await origin.readLogs(nextBlock);
    for (const entry of logs) {
      if (entry.eventName === "FundsDeposited") {
        const deposit = readDeposit(origin.chainId, entry.args);
        if (deposit.depositId <= LEAF_ID_MAX)
          open.set(deposit.depositId, { deposit, state: { kind: "open" } });
      } else if (entry.eventName === "ExecutedRelayerRefundRoot") {
        open.delete(BigInt(entry.args.leafId));
      } else if (entry.eventName === "RelayedRootBundle") {
        nextRootBundleId = Math.max(nextRootBundleId, entry.args.rootBundleId + 1);
      }
    }
    nextBlock = next;
  };

  // One read at a time. Otherwise a slow read that finished after a later read would restore
  // settled deposits.
  const read = (): Promise<void> => reads.run("origin", readOn);

  const advance = async (entry: Entry): Promise<void> => {
    entry.state = { kind: "busy" };
    try {
      const to = await resolveDeposit(deps, entry.deposit);
      entry.state = to ? { kind: "due", to } : { kind: "open" };
      if (to) onDue();
    } catch (error) {
      log(
        `Deposit ${String(entry.deposit.depositId)} of chain ${String(origin.chainId)} waits: ${reason(error)}`,
      );
      entry.state = { kind: "open" };
    }
  };

  const settleBatch = async (settlements: readonly Settlement[]): Promise<void> => {
    const data = settleCall(settlements, nextRootBundleId ?? (await origin.countRootBundles()));
    await origin.sender.send({ to: spokePool, data });
  };

  const due = (): Settlement[] =>
    [...open.values()].flatMap(({ deposit, state }) =>
      state.kind === "due" ? [{ deposit, to: state.to }] : [],
    );

  const settle = async (): Promise<void> => {
    if (due().length === 0) return;
    // Removes deposits that another solver has settled in the meantime.
    await read();
    const batch = due().slice(0, SETTLED_AT_ONCE_MAX);
    if (batch.length === 0) return;
    try {
      await settleBatch(batch);
    } catch (error) {
      // Settled one by one, so that a deposit that cannot be paid does not block the others.
      log(`Settling on chain ${String(origin.chainId)} one by one: ${reason(error)}`);
      for (const one of batch) {
        await read();
        await settleBatch([one]).catch((cause: unknown) => {
          log(
            `Deposit ${String(one.deposit.depositId)} cannot be settled yet: ${reason(cause)}`,
          );
        });
      }
    }
    await read();
  };

  return {
    read,
    settle,
    /** Starts the next step of every open deposit; no deposit waits for another. */
    advance: (): void => {
      for (const entry of open.values()) {
        if (entry.state.kind !== "open") continue;
        const work = advance(entry).finally(() => working.delete(work));
        working.add(work);
      }
    },
    /** Resolves when no started step is running any more. */
    settled: async (): Promise<void> => {
      await Promise.all(working);
    },
  };
};
