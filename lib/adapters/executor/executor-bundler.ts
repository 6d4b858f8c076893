import { hashUserOperation } from "@/lib/chain/erc4337/user-operation";
import { createOperationFinder } from "@/lib/chain/erc4337/operation-receipt";
import { feesWithinCap } from "@/lib/chain/fees";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import { createBatcher } from "@/lib/core/batch";
import type { Bundler } from "@/lib/chain/ports/bundler";
import type { EvmAddress } from "@/lib/core/evm";
import type { TransactionSender } from "@/lib/chain/ports/transactions";
import { createGasEstimator } from "./estimate";
import type { ChainContext } from "./gas";
import { createSubmitter, type Submitted } from "./submitter";

export interface ExecutorDeps {
  readonly registry: ChainRegistry;
  readonly transactions: TransactionSender;
  /**
   * Address of the key `executor`, which marks operations for the paymaster, pays for the bundles,
   * and is reimbursed by EntryPoint.
   */
  readonly executorAddress: EvmAddress;
}

type Fees = Awaited<ReturnType<Bundler["fees"]>>;
type Submit = (one: Submitted) => Promise<null>;

const FEES_CACHED_MS_MAX = 2_000;
/**
 * Maximum number of submissions in one batch. Gas and size decide how many of them share a
 * transaction.
 */
const BATCHED_MAX = 200;
/**
 * The minimum time between two bundles of a chain is its block time divided by this number. A
 * single operation is bundled immediately. Operations that arrive right after it share the next
 * bundle, which is hardly mined later.
 */
const BUNDLES_PER_BLOCK = 4;
const BUNDLES_EVERY_MS_MAX = 250;

const cached = <T>(ttlMs: number, ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: { readonly value: Promise<T>; readonly until: number } | null = null;
  return () => {
    // A monotonic clock, because system time can be changed.
    const now = performance.now();
    if (answer === null || answer.until <= now) {
      const value = ask();
      answer = { value, until: now + ttlMs };
      value.catch(() => (answer = null));
    }
    return answer.value;
  };
};

const perChain = <T>(make: (chainId: number) => T): ((chainId: number) => T) => {
  const made = new Map<number, T>();
  return (chainId) => {
    const known = made.get(chainId) ?? make(chainId);
    made.set(chainId, known);
    return known;
  };
};

/**
 * Executes operations by transactions of the service's own account, without another process. The
 * transactions call `handleOps` of EntryPoint, or the project's paymaster, which marks the
 * operations that it pays for and calls EntryPoint in the same transaction. The first operation is
 * sent immediately. Operations that arrive while the first one is checked, stored and sent share
 * the next transaction.
 */
export const createExecutorBundler = ({
  registry,
  transactions,
  executorAddress,
}: ExecutorDeps): Bundler => {
  const chainContextOf = (chainId: number): ChainContext => {
    const chain = registry.get(chainId);
    return {
      chainId,
      chainName: chain.name,
      rollup: chain.rollup,
      client: registry.client(chainId),
      entryPoint: chain.contracts.entryPoint,
      paymaster: chain.contracts.paymaster ?? null,
      executor: executorAddress,
    };
  };

  const feesOf = perChain((chainId): (() => Promise<Fees>) => {
    const ttlMs = Math.min(registry.get(chainId).blockTimeMs, FEES_CACHED_MS_MAX);
    return cached(ttlMs, () => feesWithinCap(registry, chainId));
  });
  const fees = (chainId: number): Promise<Fees> => feesOf(chainId)();

  const estimate = createGasEstimator();
  const submitAll = createSubmitter({ transactions, fees });
  const submitOn = perChain((chainId): Submit => {
    const chain = chainContextOf(chainId);
    return createBatcher({
      run: (submitted: Parameters<typeof submitAll>[1]) => submitAll(chain, submitted),
      batchWeightMax: BATCHED_MAX,
      everyMs: Math.min(
        registry.get(chainId).blockTimeMs / BUNDLES_PER_BLOCK,
        BUNDLES_EVERY_MS_MAX,
      ),
    }).submit;
  });

  return {
    id: "executor",
    fees,
    estimateGas: (chainId, operation) =>
      chainCall(chainId, () => estimate(chainContextOf(chainId), operation)),
    submit: async (chainId, operation, { isHeldElsewhere } = { isHeldElsewhere: false }) => {
      const userOpHash = hashUserOperation(
        operation,
        chainId,
        chainContextOf(chainId).entryPoint,
      );
      await submitOn(chainId)({ operation, userOpHash, isHeldElsewhere });
      return { userOpHash };
    },
    receipt: createOperationFinder(registry),
  };
};
