import { LRUCache } from "lru-cache";
import { chainCall } from "@/lib/chain/registry";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Bundler } from "@/lib/chain/ports/bundler";
import {
  BundledElsewhereError,
  type BundleTransaction,
  type NewTransaction,
  type SentTransaction,
  type TransactionSender,
} from "@/lib/chain/ports/transactions";
import { planBundles, type Wanted } from "./bundles";
import { bundleCallOf } from "@/lib/chain/erc4337/bundle-call";
import { TRANSACTION_GAS_MAX } from "@/lib/chain/erc4337/user-operation";
import { type ChainContext, simulationFailed, transactionGasOf, unusedGasOf } from "./gas";

type Hex = `0x${string}`;
export type Submitted = Pick<Wanted, "operation" | "userOpHash" | "isHeldElsewhere">;

interface SubmitterDeps {
  readonly transactions: TransactionSender;
  readonly fees: Bundler["fees"];
}

interface Submitting extends SubmitterDeps {
  /** Returns the operations that this process has seen before, and marks all as seen. */
  offeredBefore(submitted: readonly Submitted[]): readonly Submitted[];
}

/** How often an operation is bundled again after its bundle reverted. */
const BUNDLES_MAX = 5;
/**
 * Like `BUNDLES_MAX`, for an operation with an external owner. Such an operation is bundled alone,
 * so it causes the reverts itself, perhaps on purpose.
 */
const HELD_BUNDLES_MAX = 2;
/** How often a bundle is rebuilt after another instance has bundled some of its operations. */
const CLAIMS_MAX = 3;
const OFFERED_MAX = 20_000;

const highest = (...fees: bigint[]): bigint =>
  fees.reduce((one, other) => (one > other ? one : other));

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

/**
 * Splits operations into rounds with distinct hashes, because operations that differ only in their
 * signature have the same hash.
 */
const rounds = (submitted: readonly Submitted[]): Submitted[][] => {
  const result: Map<Hex, Submitted>[] = [];
  for (const one of submitted) {
    const same = (other: Submitted | undefined): boolean =>
      other?.operation.signature === one.operation.signature;
    if (result.some((round) => same(round.get(one.userOpHash)))) continue;
    const free = result.find((round) => !round.has(one.userOpHash));
    if (free) free.set(one.userOpHash, one);
    else result.push(new Map([[one.userOpHash, one]]));
  }
  return result.map((round) => [...round.values()]);
};

const bundleOf = async (
  deps: SubmitterDeps,
  chain: ChainContext,
  bundle: readonly Wanted[],
): Promise<NewTransaction> => {
  const operations = bundle.map(({ operation }) => operation);
  const now = await deps.fees(chain.chainId);
  // The bundle pays the current network price even if its operations have lower fees, because a
  // higher cost is better than a delay.
  const fees = {
    maxFeePerGas: highest(now.maxFeePerGas, ...operations.map((one) => one.maxFeePerGas)),
    maxPriorityFeePerGas: highest(
      now.maxPriorityFeePerGas,
      ...operations.map((one) => one.maxPriorityFeePerGas),
    ),
  };
  const planned = bundleCallOf(chain, operations);
  const gas = transactionGasOf(chain, operations, planned);
  // The executor pays the fee of a parent chain in addition to the gas.
  const unused = operations.reduce((sum, operation) => sum + unusedGasOf(operation, chain), 0n);
  const { keyId, address } = await deps.transactions.chooseKey({
    chainId: chain.chainId,
    to: planned.to,
    costWei: (gas + unused) * fees.maxFeePerGas,
  });
  // EntryPoint reimburses the account that sends the bundle, so the call is built with the chosen
  // key's address.
  const call = bundleCallOf({ ...chain, executor: address }, operations);
  return {
    chainId: chain.chainId,
    keyId,
    purpose: `bundle:${crypto.randomUUID()}`,
    to: call.to,
    data: call.data,
    value: 0n,
    gas,
    fees,
    carries: bundle.map(({ userOpHash, before }) => ({
      userOpHash,
      after: before?.transaction.id ?? null,
    })),
  };
};

/**
 * Returns a function that records operations, and returns those that this process has seen before.
 * A stored bundle is searched only for the operations that were seen before, because a new
 * operation most likely has none. If another process has bundled a new operation, storing the new
 * bundle fails (BundledElsewhereError).
 */
const createOffered = () => {
  const offered = new LRUCache<Hex, true>({ max: OFFERED_MAX });
  return (submitted: readonly Submitted[]): Submitted[] => {
    const before = submitted.filter(({ userOpHash }) => offered.has(userOpHash));
    for (const { userOpHash } of submitted) offered.set(userOpHash, true);
    return before;
  };
};

/** Whether a stored bundle reverted, so that its operations need a new bundle. */
const hasReverted = async (
  chain: ChainContext,
  { minedHash }: SentTransaction,
): Promise<boolean> => {
  if (minedHash === null) return false;
  const receipt = await chainCall(chain.chainId, () =>
    chain.client.getTransactionReceipt({ hash: minedHash }).catch(() => null),
  );
  return receipt?.status === "reverted";
};

const bundleTransactionsOf = async (
  deps: SubmitterDeps,
  chain: ChainContext,
  submitted: readonly Submitted[],
) => {
  const hashes = submitted.map(({ userOpHash }) => userOpHash);
  const bundles: ReadonlyMap<Hex, BundleTransaction> =
    hashes.length === 0
      ? new Map()
      : await deps.transactions.bundleTransactionsOf(chain.chainId, hashes);
  const distinct = new Map(
    [...bundles.values()].map(({ transaction }) => [transaction.id, transaction]),
  );
  const reverted = new Set<string>();
  await Promise.all(
    [...distinct.values()].map(async (transaction) => {
      if (await hasReverted(chain, transaction)) reverted.add(transaction.id);
    }),
  );
  const isAlive = (bundle: BundleTransaction): boolean => !reverted.has(bundle.transaction.id);
  return { bundles, alive: [...distinct.keys()].filter((id) => !reverted.has(id)), isAlive };
};

/** Sends the bundle without the operations that another instance has bundled in the meantime. */
const sendBundle = async (
  deps: SubmitterDeps,
  chain: ChainContext,
  bundle: readonly Wanted[],
): Promise<void> => {
  let mine = bundle;
  for (let claims = 0; mine.length > 0 && claims < CLAIMS_MAX; claims += 1) {
    try {
      await deps.transactions.send(await bundleOf(deps, chain, mine));
      return;
    } catch (error) {
      if (!(error instanceof BundledElsewhereError)) throw error;
      const bundles = await deps.transactions.bundleTransactionsOf(
        chain.chainId,
        mine.map(({ userOpHash }) => userOpHash),
      );
      const carrierOf = ({ userOpHash }: Wanted): string | undefined =>
        bundles.get(userOpHash)?.transaction.id;
      const isMine = (one: Wanted): boolean => carrierOf(one) === one.before?.transaction.id;
      // Sends the other instance's bundles too, because it may have stopped after storing and
      // before sending them.
      const elsewhere = new Set(
        mine.filter((one) => !isMine(one)).flatMap((one) => carrierOf(one) ?? []),
      );
      await Promise.all([...elsewhere].map((id) => deps.transactions.resend(id)));
      mine = mine.filter(isMine);
    }
  }
  if (mine.length > 0)
    throw new DomainError(
      "chain_unavailable",
      "Another instance is bundling this operation. Try again shortly.",
    );
};

/**
 * Splits the bundle in halves when the executor cannot pay for it, because it may be able to pay
 * for smaller ones.
 */
const sendInParts = async (
  deps: SubmitterDeps,
  chain: ChainContext,
  bundle: readonly Wanted[],
  failures: Map<Hex, Error>,
): Promise<void> => {
  try {
    await sendBundle(deps, chain, bundle);
  } catch (error) {
    const isUnaffordable = isDomainError(error) && error.code === "provider_error";
    if (!isUnaffordable || bundle.length === 1) {
      for (const { userOpHash } of bundle) failures.set(userOpHash, asError(error));
      return;
    }
    const middle = Math.ceil(bundle.length / 2);
    await sendInParts(deps, chain, bundle.slice(0, middle), failures);
    await sendInParts(deps, chain, bundle.slice(middle), failures);
  }
};

const impossible = (
  chain: ChainContext,
  { operation, before, isHeldElsewhere }: Wanted,
): Error | null => {
  const gas = transactionGasOf(chain, [operation], bundleCallOf(chain, [operation]));
  if (gas > TRANSACTION_GAS_MAX) {
    return new DomainError(
      "batch_too_large",
      "The operation needs more gas than one transaction may use. Nothing was sent; split it into smaller ones.",
    );
  }
  const bundlesMax = isHeldElsewhere ? HELD_BUNDLES_MAX : BUNDLES_MAX;
  return before !== null && before.attempts >= bundlesMax
    ? simulationFailed(chain, `its bundle reverted ${String(bundlesMax)} times`)
    : null;
};

/**
 * Submits operations with distinct hashes.
 * @returns for the hash of each operation that was not accepted, the error; accepted operations are
 * missing
 */
const submitRound = async (
  deps: Submitting,
  chain: ChainContext,
  submitted: readonly Submitted[],
): Promise<Map<Hex, Error>> => {
  const failures = new Map<Hex, Error>();
  const { bundles, alive, isAlive } = await bundleTransactionsOf(
    deps,
    chain,
    deps.offeredBefore(submitted),
  );
  const wanted = submitted.flatMap((one): Wanted[] => {
    const before = bundles.get(one.userOpHash) ?? null;
    if (before !== null && isAlive(before)) return [];
    const error = impossible(chain, { ...one, before });
    if (error === null) return [{ ...one, before }];
    failures.set(one.userOpHash, error);
    return [];
  });
  const [plan] = await Promise.all([
    chainCall(chain.chainId, () => planBundles(chain, wanted)),
    // Fetched here, so that the fees are cached when the bundles are sent.
    wanted.length > 0 ? deps.fees(chain.chainId) : null,
    ...alive.map((id) => deps.transactions.resend(id)),
  ]);
  for (const bundle of plan.bundles) await sendInParts(deps, chain, bundle, failures);
  await refuse(deps, chain, plan.refused, failures);
  return failures;
};

const refuse = async (
  deps: SubmitterDeps,
  chain: ChainContext,
  refused: Awaited<ReturnType<typeof planBundles>>["refused"],
  failures: Map<Hex, Error>,
): Promise<void> => {
  if (refused.size === 0) return;
  // Another instance may have submitted the operation since the first query, and it may be mined.
  const { bundles, isAlive } = await bundleTransactionsOf(deps, chain, [...refused.keys()]);
  for (const [one, reason] of refused) {
    const bundle = bundles.get(one.userOpHash);
    if (bundle === undefined || !isAlive(bundle)) {
      failures.set(one.userOpHash, simulationFailed(chain, reason.text, reason.entryPointCode));
    }
  }
};

/**
 * Submits operations of one chain, many in one transaction.
 * @returns null for each operation in a stored transaction, otherwise the reason of its refusal
 */
export const createSubmitter = (deps: SubmitterDeps) => {
  const offeredBefore = createOffered();
  return async (
    chain: ChainContext,
    submitted: readonly Submitted[],
  ): Promise<readonly (Error | null)[]> => {
    const failures = new Map<string, Error | undefined>();
    const keyOf = ({ userOpHash, operation }: Submitted): string =>
      `${userOpHash}:${operation.signature}`;
    for (const round of rounds(submitted)) {
      const failed = await submitRound({ ...deps, offeredBefore }, chain, round);
      for (const one of round) failures.set(keyOf(one), failed.get(one.userOpHash));
    }
    return submitted.map((one) => failures.get(keyOf(one)) ?? null);
  };
};
