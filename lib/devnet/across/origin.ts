import type { Address } from "viem";
import type { SolverChain } from "./chain";
import {
  FILLED,
  LEAF_ID_MAX,
  addressOf,
  fillCall,
  readDeposit,
  relayHash,
  settleCall,
  spokePoolAbi,
  type Deposit,
  type Settlement,
} from "./spoke-pool";

/** Deposits settled in one transaction; about 150k gas each. */
const SETTLED_AT_ONCE_MAX = 20;

export interface OriginDeps {
  readonly origin: SolverChain;
  readonly chainOf: (chainId: number) => SolverChain | undefined;
  readonly spokePool: Address;
  /** Whether the relayer wants to fill it. */
  readonly accepts: (deposit: Deposit) => boolean;
  /** Called when a deposit has become due. */
  readonly onDue: () => void;
  readonly log: (message: string) => void;
}

type DepositState =
  | { readonly kind: "open" }
  /** Being looked at or filled right now. */
  | { readonly kind: "busy" }
  /** Filled, or not filled in time: to be paid out. */
  | { readonly kind: "due"; readonly to: Address };

interface Entry {
  readonly deposit: Deposit;
  state: DepositState;
}

const reason = (error: unknown): string =>
  error instanceof Error && "shortMessage" in error ? String(error.shortMessage) : String(error);

/**
 * The deposits of one origin chain: read, filled where they want to go, and settled. All it knows comes from the chains, so
 * a restart begins at block 0 and forgets nothing that is not settled.
 */
export const createOrigin = ({ origin, chainOf, spokePool, accepts, onDue, log }: OriginDeps) => {
  const open = new Map<bigint, Entry>();
  let nextBlock = 0n;
  let nextRootBundleId: number | null = null;
  let reading: Promise<void> = Promise.resolve();
  const working = new Set<Promise<void>>();

  const readOn = async (): Promise<void> => {
    // Before the logs: one that comes in between is in them too.
    nextRootBundleId ??= await origin.countRootBundles();
    const { logs, nextBlock: next } = await origin.readLogs(nextBlock);
    for (const entry of logs) {
      if (entry.eventName === "FundsDeposited") {
        const deposit = readDeposit(origin.chainId, entry.args);
        if (deposit.depositId <= LEAF_ID_MAX) open.set(deposit.depositId, { deposit, state: { kind: "open" } });
      } else if (entry.eventName === "ExecutedRelayerRefundRoot") {
        open.delete(BigInt(entry.args.leafId));
      } else if (entry.eventName === "RelayedRootBundle") {
        nextRootBundleId = Math.max(nextRootBundleId, entry.args.rootBundleId + 1);
      }
    }
    nextBlock = next;
  };

  // One at a time: a slower read that ends after a later one would bring settled deposits back.
  const read = (): Promise<void> => {
    reading = reading.then(readOn, readOn);
    return reading;
  };

  /** Who filled it, null while nobody did. */
  const fillerOf = async (destination: SolverChain, deposit: Deposit): Promise<Address | null> => {
    const status = await destination.client.readContract({
      address: spokePool,
      abi: spokePoolAbi,
      functionName: "fillStatuses",
      args: [relayHash(deposit)],
    });
    if (status !== FILLED) return null;
    const fills = await destination.client.getContractEvents({
      address: spokePool,
      abi: spokePoolAbi,
      eventName: "FilledRelay",
      args: { originChainId: BigInt(deposit.originChainId), depositId: deposit.depositId },
      fromBlock: 0n,
      strict: true,
    });
    const fill = fills[0];
    return fill ? addressOf(fill.args.relayer) : null;
  };

  /** @returns what came in the way, null when it is filled */
  const fill = async (destination: SolverChain, deposit: Deposit): Promise<string | null> => {
    try {
      await destination.sender.sendAndWait({ to: spokePool, data: fillCall(deposit, destination.sender.address) });
      return null;
    } catch (error) {
      return reason(error);
    }
  };

  /** What the destination says: filled, or too late for anybody to fill it. Null: neither yet. */
  const outcomeOf = async (deposit: Deposit): Promise<Address | null> => {
    const destination = chainOf(deposit.destinationChainId);
    // The time is read first: what is not filled at a moment after its deadline never will be.
    const { timestamp } = await (destination ?? origin).client.getBlock({ blockTag: "latest" });
    const filler = destination ? await fillerOf(destination, deposit) : null;
    if (filler) return filler;
    return timestamp > BigInt(deposit.fillDeadline) ? deposit.depositor : null;
  };

  /** To whom the deposit is due now, null while that is open. The fill comes first, for whoever waits for it. */
  const resolve = async (deposit: Deposit): Promise<Address | null> => {
    const destination = chainOf(deposit.destinationChainId);
    if (!destination || !accepts(deposit)) return outcomeOf(deposit);
    const obstacle = await fill(destination, deposit);
    if (obstacle === null) return destination.sender.address;
    const outcome = await outcomeOf(deposit);
    if (!outcome) log(`Deposit ${String(deposit.depositId)} of chain ${String(origin.chainId)} waits: ${obstacle}`);
    return outcome;
  };

  const advance = async (entry: Entry): Promise<void> => {
    entry.state = { kind: "busy" };
    try {
      const to = await resolve(entry.deposit);
      entry.state = to ? { kind: "due", to } : { kind: "open" };
      if (to) onDue();
    } catch (error) {
      log(`Deposit ${String(entry.deposit.depositId)} of chain ${String(origin.chainId)} waits: ${reason(error)}`);
      entry.state = { kind: "open" };
    }
  };

  const settleBatch = async (settlements: readonly Settlement[]): Promise<void> => {
    const data = settleCall(settlements, nextRootBundleId ?? (await origin.countRootBundles()));
    await origin.sender.sendAndWait({ to: spokePool, data });
  };

  const settle = async (): Promise<void> => {
    await read();
    const due = [...open.values()].flatMap(({ deposit, state }): Settlement[] =>
      state.kind === "due" ? [{ deposit, to: state.to }] : [],
    );
    const batch = due.slice(0, SETTLED_AT_ONCE_MAX);
    if (batch.length === 0) return;
    try {
      await settleBatch(batch);
    } catch (error) {
      // One that cannot be paid must not hold up the others.
      log(`Settling on chain ${String(origin.chainId)} one by one: ${reason(error)}`);
      for (const one of batch) {
        await read();
        await settleBatch([one]).catch((cause: unknown) => {
          log(`Deposit ${String(one.deposit.depositId)} cannot be settled yet: ${reason(cause)}`);
        });
      }
    }
    await read();
  };

  return {
    read,
    settle,
    /** Begins to bring every open deposit on; none waits for another. */
    advance: (): void => {
      for (const entry of open.values()) {
        if (entry.state.kind !== "open") continue;
        const work = advance(entry).finally(() => working.delete(work));
        working.add(work);
      }
    },
    /** Resolves when nothing begun is under way any more. */
    settled: async (): Promise<void> => {
      await Promise.all(working);
    },
  };
};
