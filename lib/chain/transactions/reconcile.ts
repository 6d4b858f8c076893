import type { Logger } from "pino";
import {
  parseGwei,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type PublicClient,
} from "viem";
import { agreedAnswer } from "@/lib/chain/agreement";
import { feesWithinCap } from "@/lib/chain/fees";
import { finalBlockNumber } from "@/lib/chain/blocks";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/core/evm";
import { type Broadcaster, raisedFees, type VersionSigner } from "./broadcast";
import type { StoredTransaction, TransactionRepository } from "./repository";

interface ReconcilerDeps {
  readonly registry: ChainRegistry;
  readonly repository: TransactionRepository;
  readonly broadcaster: Broadcaster;
  readonly sign: VersionSigner;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
}

const OPEN_MAX = 500;
const PARALLEL_MAX = 20;
/**
 * Number of blocks after which an unmined transaction with the next nonce counts as stuck because
 * of a low fee, which is then raised.
 */
const STUCK_AFTER_BLOCKS = 5;
const STUCK_AFTER_MS_MIN = 3_000;

interface View {
  readonly chainId: number;
  readonly client: PublicClient;
  /** The newest final block; null while there is none. */
  readonly final: bigint | null;
  /** Number of mined transactions by account, which is the account's next nonce. */
  readonly counts: ReadonlyMap<EvmAddress, bigint>;
}

const orNull =
  (missing: typeof TransactionNotFoundError | typeof TransactionReceiptNotFoundError) =>
  (error: unknown): null => {
    if (error instanceof missing) return null;
    throw error;
  };

interface MinedVersion {
  readonly hash: `0x${string}`;
  readonly blockNumber: bigint;
}

const minedVersion = async (
  client: PublicClient,
  row: StoredTransaction,
): Promise<MinedVersion | null> => {
  for (const hash of new Set([row.minedHash ?? row.hash, row.hash, ...row.replacedHashes])) {
    const receipt = await client
      .getTransactionReceipt({ hash })
      .catch(orNull(TransactionReceiptNotFoundError));
    if (receipt !== null) return { hash, blockNumber: receipt.blockNumber };
  }
  return null;
};

/**
 * The mined version of a transaction; null only when the chain's providers agree that none is
 * mined. One lagging node must not undo a transaction, or cause a second nonce for a payment that
 * was made.
 */
const agreedVersion = (
  { registry }: ReconcilerDeps,
  row: StoredTransaction,
): Promise<MinedVersion | null> =>
  agreedAnswer({
    registry,
    chainId: row.chainId,
    look: (view) => minedVersion(view.client(row.chainId), row),
    isExpected: (mined) => mined !== null,
  });

const viewOf = async (
  deps: ReconcilerDeps,
  chainId: number,
  rows: readonly StoredTransaction[],
): Promise<View> => {
  const client = deps.registry.client(chainId);
  const accounts = [...new Set(rows.map((row) => row.from))];
  const [latest, ...counts] = await Promise.all([
    client.getBlockNumber({ cacheTime: 0 }),
    ...accounts.map((address) => client.getTransactionCount({ address, blockTag: "latest" })),
  ]);
  return {
    chainId,
    client,
    final: await finalBlockNumber(deps.registry, chainId, latest),
    counts: new Map(accounts.map((address, index) => [address, BigInt(counts[index] ?? 0)])),
  };
};

/**
 * Settles a transaction whose nonce was used, by one of its versions or by an external transaction.
 */
const settleUsed = async (
  deps: ReconcilerDeps,
  view: View,
  row: StoredTransaction,
): Promise<boolean> => {
  const mined = await minedVersion(view.client, row);
  if (mined !== null) return recordMined(deps, view, row, mined);
  await replaceNonce(deps, view, row);
  return false;
};

/**
 * Stores that the transaction is mined, or that it is final when its block is final.
 * @returns whether the transaction is final
 */
const recordMined = async (
  deps: ReconcilerDeps,
  view: View,
  row: StoredTransaction,
  mined: MinedVersion,
): Promise<boolean> => {
  const isFinal = view.final !== null && mined.blockNumber <= view.final;
  if (isFinal) await deps.repository.markFinal(row, mined, deps.clock.now());
  else if (
    row.status !== "mined" ||
    row.minedHash !== mined.hash ||
    row.blockNumber !== mined.blockNumber
  )
    await deps.repository.markMined(row, mined, deps.clock.now());
  return isFinal;
};

const replaceNonce = async (
  deps: ReconcilerDeps,
  view: View,
  row: StoredTransaction,
): Promise<void> => {
  if (view.final === null) return;
  // Reads the count at a final block. At the latest block, a node of the provider that lags behind
  // would return an older count.
  const counted = BigInt(
    await view.client.getTransactionCount({ address: row.from, blockNumber: view.final }),
  );
  if (counted <= row.nonce || (await agreedVersion(deps, row)) !== null) return;
  if (row.status === "mined") {
    await deps.repository.markDropped(row, deps.clock.now());
    return;
  }
  const keyId = await deps.sign.keyOf(row.from);
  if (keyId === null) return;
  const resign = (nonce: bigint) =>
    deps.sign.version(keyId, row, {
      nonce,
      maxFeePerGas: row.maxFeePerGas,
      maxPriorityFeePerGas: row.maxPriorityFeePerGas,
    });
  const isMoved = await deps.repository.moveToNewNonce(row, counted, resign, deps.clock.now());
  deps.log.warn(
    { transactionId: row.id, chainId: row.chainId, from: row.from, isMoved },
    "nonce was used elsewhere",
  );
};

const isStuck = (deps: ReconcilerDeps, view: View, row: StoredTransaction): boolean => {
  if (view.counts.get(row.from) !== row.nonce) return false;
  const patienceMs = Math.max(
    STUCK_AFTER_BLOCKS * deps.registry.get(row.chainId).blockTimeMs,
    STUCK_AFTER_MS_MIN,
  );
  return (
    deps.clock.now().getTime() - (row.broadcastAt ?? row.updatedAt).getTime() >= patienceMs
  );
};

const capOf = ({ registry }: ReconcilerDeps, chainId: number): bigint | null => {
  const { feeCapGwei } = registry.get(chainId);
  return feeCapGwei === undefined ? null : parseGwei(feeCapGwei);
};

/**
 * Stores a version with a higher fee and the same nonce, then broadcasts it. At most one of the
 * versions is ever mined.
 */
const bump = async (deps: ReconcilerDeps, row: StoredTransaction): Promise<void> => {
  const keyId = await deps.sign.keyOf(row.from);
  const fees = raisedFees(
    row,
    await feesWithinCap(deps.registry, row.chainId),
    capOf(deps, row.chainId),
  );
  if (keyId === null || fees === null) return;
  const version = await deps.sign.version(keyId, row, { nonce: row.nonce, ...fees });
  // Another instance may have raised the fee at the same time.
  if (!(await deps.repository.replaceVersion(row, version, deps.clock.now()))) return;
  deps.log.info(
    { transactionId: row.id, chainId: row.chainId, hash: version.hash },
    "fee raised",
  );
  await deps.broadcaster.offer({ ...row, ...version, status: "signed" });
};

const settleWaiting = async (
  deps: ReconcilerDeps,
  view: View,
  row: StoredTransaction,
): Promise<boolean> => {
  if (row.status === "mined") {
    const mined = await agreedVersion(deps, row);
    if (mined !== null) return recordMined(deps, view, row, mined);
    await deps.repository.markDropped(row, deps.clock.now());
    await deps.broadcaster.offer({ ...row, status: "broadcast" });
    return false;
  }
  const isRelayed = deps.registry.get(row.chainId).privateRelayUrl !== undefined;
  const wasBroadcast = row.status === "broadcast";
  // Transactions of a private relay are not on public nodes. They are offered to the relay each
  // time, because it accepts repetitions.
  const isKnown =
    wasBroadcast &&
    !isRelayed &&
    (await view.client
      .getTransaction({ hash: row.hash })
      .catch(orNull(TransactionNotFoundError))) !== null;
  // The node has only now received the transaction, so it is not stuck.
  const isNew = !isKnown && (await deps.broadcaster.offer(row));
  if (isNew && !(isRelayed && wasBroadcast)) return false;
  if (isStuck(deps, view, row)) await bump(deps, row);
  return false;
};

/**
 * Returns whether the transaction is final. Errors are logged, because a transaction that cannot be
 * settled now must not delay the others.
 */
const settle = async (
  deps: ReconcilerDeps,
  view: View,
  row: StoredTransaction,
): Promise<boolean> => {
  try {
    const isUsed = row.nonce < (view.counts.get(row.from) ?? 0n);
    return await (isUsed ? settleUsed(deps, view, row) : settleWaiting(deps, view, row));
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : "unknown";
    deps.log.warn({ transactionId: row.id, chainId: row.chainId, reason }, "not settled");
    return false;
  }
};

/**
 * Whether the chain has lost the transaction. False while the providers disagree or do not answer,
 * so that the error does not delay the other transactions.
 */
const isLost = async (deps: ReconcilerDeps, row: StoredTransaction): Promise<boolean> => {
  try {
    return (await agreedVersion(deps, row)) === null;
  } catch (error) {
    if (isDomainError(error) && error.code === "chain_unavailable") return false;
    throw error;
  }
};

/**
 * Restores final transactions that the chain has lost, when a chain was reset further than its
 * confirmation depth (for example a local chain, restored from its last save after a crash).
 * Otherwise later transactions would wait forever for their nonces.
 */
const restoreLost = async (
  deps: ReconcilerDeps,
  view: View,
  rows: readonly StoredTransaction[],
): Promise<void> => {
  for (const [account, count] of view.counts) {
    const next = rows.find((row) => row.from === account)?.nonce ?? count;
    if (count >= next) continue;
    const nonces = { from: count, to: next, limit: OPEN_MAX };
    const lost: StoredTransaction[] = [];
    for (const row of await deps.repository.listFinal(view.chainId, account, nonces))
      if (await isLost(deps, row)) lost.push(row);
    for (const row of lost) {
      await deps.repository.markDropped(row, deps.clock.now());
      await deps.broadcaster.offer({ ...row, status: "broadcast" });
    }
    if (lost.length > 0)
      deps.log.warn(
        { chainId: view.chainId, from: account, lost: lost.length },
        "chain was set back",
      );
  }
};

export const createReconciler = (deps: ReconcilerDeps) => {
  return {
    reconcile: async (chainId: number): Promise<number> => {
      const rows = await deps.repository.listOpen(chainId, OPEN_MAX);
      if (rows.length === 0) return 0;
      const view = await chainCall(chainId, () => viewOf(deps, chainId, rows));
      await chainCall(chainId, () => restoreLost(deps, view, rows));
      let open = 0;
      for (let start = 0; start < rows.length; start += PARALLEL_MAX) {
        const part = rows.slice(start, start + PARALLEL_MAX);
        const finals = await Promise.all(part.map((row) => settle(deps, view, row)));
        open += finals.filter((isFinal) => !isFinal).length;
      }
      return open;
    },
  };
};
