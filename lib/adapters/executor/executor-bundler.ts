import { hashUserOperation } from "@/lib/chains/erc4337/user-operation";
import { createOperationFinder } from "@/lib/chains/erc4337/operation-finder";
import { suggestFees } from "@/lib/chains/fees";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { createBatcher } from "@/lib/core/batch";
import type { Bundler } from "@/lib/ports/bundler";
import type { EvmAddress } from "@/lib/ports/routing";
import type { TransactionSender } from "@/lib/ports/transactions";
import { estimateOperationGas } from "./estimate";
import type { ChainContext } from "./chain-context";
import { createSubmitter, type Submitted } from "./submitter";

export interface ExecutorDeps {
  readonly registry: ChainRegistry;
  readonly transactions: TransactionSender;
  /** Address of the key `executor`; it marks for the paymaster, pays for the bundles and is paid back by EntryPoint. */
  readonly executorAddress: EvmAddress;
}

type Fees = Awaited<ReturnType<Bundler["fees"]>>;
type Submit = (one: Submitted) => Promise<null>;

const FEES_CACHED_MS_MAX = 2_000;
/** Submissions that are worked on at once; how many go into one transaction is decided by gas and size. */
const BATCHED_MAX = 200;

/** Asks at most once per `ttlMs`, and once at a time. */
const cached = <T>(ttlMs: number, ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: { readonly value: Promise<T>; readonly until: number } | null = null;
  return () => {
    // Monotonic: what the clock says is of no interest here.
    const now = performance.now();
    if (answer === null || answer.until <= now) {
      const value = ask();
      answer = { value, until: now + ttlMs };
      value.catch(() => (answer = null));
    }
    return answer.value;
  };
};

/** One of each kind per chain, made when the chain is first used. */
const perChain = <T>(make: (chainId: number) => T): ((chainId: number) => T) => {
  const made = new Map<number, T>();
  return (chainId) => {
    const known = made.get(chainId) ?? make(chainId);
    made.set(chainId, known);
    return known;
  };
};

/**
 * Puts operations on chain in transactions of the service's own account: `handleOps` of EntryPoint, or of the project's paymaster,
 * which marks what it pays for and calls EntryPoint in the same transaction. Needs no other process. The first goes at
 * once; those that come while it is checked, stored and sent go together in the next transaction.
 */
export const createExecutorBundler = ({ registry, transactions, executorAddress }: ExecutorDeps): Bundler => {
  const chainContextOf = (chainId: number): ChainContext => {
    const chain = registry.get(chainId);
    return {
      chainId,
      chainName: chain.name,
      client: registry.client(chainId),
      entryPoint: chain.contracts.entryPoint,
      paymaster: chain.contracts.paymaster ?? null,
      executor: executorAddress,
    };
  };

  const feesOf = perChain((chainId): (() => Promise<Fees>) => {
    const { client } = chainContextOf(chainId);
    const ttlMs = Math.min(registry.get(chainId).blockTimeMs, FEES_CACHED_MS_MAX);
    return cached(ttlMs, () => chainCall(chainId, () => suggestFees(client)));
  });
  const fees = (chainId: number): Promise<Fees> => feesOf(chainId)();

  const submitAll = createSubmitter({ transactions, fees });
  const submitOn = perChain((chainId): Submit => {
    const chain = chainContextOf(chainId);
    return createBatcher({
      run: (submitted: Parameters<typeof submitAll>[1]) => submitAll(chain, submitted),
      batchWeightMax: BATCHED_MAX,
    }).submit;
  });

  return {
    id: "executor",
    fees,
    estimateGas: (chainId, operation) =>
      chainCall(chainId, () => estimateOperationGas(chainContextOf(chainId), operation)),
    submit: async (chainId, operation, { isHeldElsewhere } = { isHeldElsewhere: false }) => {
      const userOpHash = hashUserOperation(operation, chainId, chainContextOf(chainId).entryPoint);
      await submitOn(chainId)({ operation, userOpHash, isHeldElsewhere });
      return { userOpHash };
    },
    receipt: createOperationFinder(registry),
  };
};
