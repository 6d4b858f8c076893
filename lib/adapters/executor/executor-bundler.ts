import { hashUserOperation } from "@/lib/chains/erc4337/user-operation";
import { findOperation } from "@/lib/chains/erc4337/operation-receipt";
import { suggestFees } from "@/lib/chains/fees";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import { DomainError } from "@/lib/core/errors";
import type { Bundler, UserOperation } from "@/lib/ports/bundler";
import type { EvmAddress } from "@/lib/ports/routing";
import type { NewTransaction, TransactionSender } from "@/lib/ports/transactions";
import { estimateOperationGas } from "./estimate";
import { handleOpsData, TRANSACTION_GAS_MAX, transactionGasOf } from "./gas";
import { dryRun, simulationFailed, type Place } from "./simulation";

export interface ExecutorDeps {
  readonly registry: ChainRegistry;
  readonly transactions: TransactionSender;
  /** Address of the key `executor`; it pays for the bundles and is paid back by EntryPoint. */
  readonly executorAddress: EvmAddress;
}

type Fees = Awaited<ReturnType<Bundler["fees"]>>;

const EXECUTOR_KEY_ID = "executor";
const FEES_CACHED_MS_MAX = 2_000;
/** How often one operation is bundled again after its bundle was mined and reverted without it. */
const BUNDLES_MAX = 5;

const higher = (one: bigint, other: bigint): bigint => (one > other ? one : other);

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

/** Puts each operation on chain in a `handleOps` transaction of the service's own account. Needs no other process. */
export const createExecutorBundler = ({ registry, transactions, executorAddress }: ExecutorDeps): Bundler => {
  const feeReaders = new Map<number, () => Promise<Fees>>();

  const placeOf = (chainId: number): Place => {
    const chain = registry.get(chainId);
    return {
      chainId,
      chainName: chain.name,
      client: registry.client(chainId),
      entryPoint: chain.contracts.entryPoint,
      executor: executorAddress,
    };
  };

  const fees = (chainId: number): Promise<Fees> => {
    const { client } = placeOf(chainId);
    const ttlMs = Math.min(registry.get(chainId).blockTimeMs, FEES_CACHED_MS_MAX);
    const read = feeReaders.get(chainId) ?? cached(ttlMs, () => chainCall(chainId, () => suggestFees(client)));
    feeReaders.set(chainId, read);
    return read();
  };

  const bundleOf = async (place: Place, operation: UserOperation, purpose: string): Promise<NewTransaction> => {
    const data = handleOpsData(operation, executorAddress);
    const gas = transactionGasOf(operation, data);
    if (gas > TRANSACTION_GAS_MAX) {
      throw new DomainError("batch_too_large", "The operation needs more gas than one transaction may use.");
    }
    const now = await fees(place.chainId);
    return {
      chainId: place.chainId,
      keyId: EXECUTOR_KEY_ID,
      purpose,
      to: place.entryPoint,
      data,
      value: 0n,
      gas,
      // An operation that was priced a while ago is carried at today's price: late is worse than dear.
      fees: {
        maxFeePerGas: higher(now.maxFeePerGas, operation.maxFeePerGas),
        maxPriorityFeePerGas: higher(now.maxPriorityFeePerGas, operation.maxPriorityFeePerGas),
      },
    };
  };

  /** Whether the stored bundle of that purpose is a dead end: mined, but reverted. Null: there is none. */
  const bundleFailed = async (place: Place, purpose: string): Promise<boolean | null> => {
    const stored = await transactions.find(place.chainId, purpose);
    if (stored === null) return null;
    const { minedHash } = stored;
    if (minedHash === null) return false;
    const receipt = await chainCall(place.chainId, () =>
      place.client.getTransactionReceipt({ hash: minedHash }).catch(() => null),
    );
    return receipt?.status === "reverted";
  };

  /** The purpose to bundle under: that of the bundle that is under way, or the first one unused. */
  const purposeOf = async (place: Place, userOpHash: string): Promise<{ purpose: string; isStored: boolean }> => {
    for (let attempt = 1; attempt <= BUNDLES_MAX; attempt += 1) {
      const purpose = attempt === 1 ? `userop:${userOpHash}` : `userop:${userOpHash}:${attempt}`;
      const failed = await bundleFailed(place, purpose);
      if (failed !== true) return { purpose, isStored: failed === false };
    }
    throw simulationFailed(place, `its bundle reverted ${BUNDLES_MAX} times`);
  };

  const submit: Bundler["submit"] = async (chainId, operation) => {
    const place = placeOf(chainId);
    const userOpHash = hashUserOperation(operation, chainId, place.entryPoint);
    const [{ purpose, isStored }, refused] = await Promise.all([
      purposeOf(place, userOpHash),
      chainCall(chainId, () => dryRun(place, operation)),
      // Cached by the time that the bundle is made.
      fees(chainId),
    ]);
    if (!isStored && refused !== null) {
      // The same operation may have been submitted elsewhere and mined between the two questions.
      const { isStored: isStoredNow } = await purposeOf(place, userOpHash);
      if (!isStoredNow) throw simulationFailed(place, refused.text, refused.entryPointCode);
      return { userOpHash };
    }
    await transactions.send(await bundleOf(place, operation, purpose));
    return { userOpHash };
  };

  return {
    id: "executor",
    fees,
    estimateGas: (chainId, operation) => chainCall(chainId, () => estimateOperationGas(placeOf(chainId), operation)),
    submit,
    receipt: (chainId, userOpHash, fromBlock) => {
      const { client, entryPoint } = placeOf(chainId);
      return chainCall(chainId, () => findOperation({ client, entryPoint, userOpHash }, fromBlock));
    },
  };
};
