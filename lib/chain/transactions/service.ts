import type { Logger } from "pino";
import { parentFeeBesideGas } from "@/lib/chain/fees";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import type { Database, Tx } from "@/lib/platform/db/client";
import type { EvmAddress } from "@/lib/core/evm";
import type { Signer } from "@/lib/chain/ports/signer";
import type {
  NewTransaction,
  SentTransaction,
  TransactionSender,
} from "@/lib/chain/ports/transactions";
import { createBroadcaster, createKeyChoice, createVersionSigner } from "./broadcast";
import { createReconciler } from "./reconcile";
import {
  type Carrying,
  createTransactionRepository,
  type SignedVersion,
  type StoredTransaction,
} from "./repository";

export { NotWantedError } from "./errors";

export interface TransactionsDeps {
  readonly database: Database;
  readonly registry: ChainRegistry;
  readonly signer: Signer;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  /** The executor keys that share the transactions. Default: only the key `executor`. */
  readonly executorKeyIds?: readonly string[];
  /** Whether a contract accepts calls from an executor. Default: always. */
  readonly mayCall?: (chainId: number, from: EvmAddress, to: EvmAddress) => Promise<boolean>;
}

const EXECUTOR_KEY_IDS = ["executor"];

export interface ChainTransactionsService extends TransactionSender {
  /**
   * Sends a transaction as the port describes. `claim` runs in the database transaction that stores
   * the signed bytes, so its writes are committed exactly when the transaction is stored. It must
   * not use the network.
   * @throws NotWantedError when `claim` returns false; then nothing is stored
   */
  send(
    transaction: NewTransaction,
    claim?: (tx: Tx) => Promise<boolean>,
  ): Promise<SentTransaction>;
  /**
   * Compares transactions that are not final with the chain. Marks mined and final ones, unmarks
   * the ones that a reorganisation removed, sends lost ones again, and raises the fees of stuck
   * ones. Safe to run at any time, and on several instances.
   * @returns the number of transactions that are still not final
   * @throws DomainError `chain_unavailable`
   */
  reconcile(chainId: number): Promise<number>;
}

const toSent = (stored: Carrying): SentTransaction => ({
  id: stored.id,
  hash: stored.hash,
  status: stored.status,
  minedHash: stored.minedHash,
});

/**
 * Sends the service's own transactions. The signed bytes are first stored in the database, and then
 * broadcast until the transaction is mined.
 */
export const createChainTransactionsService = (
  deps: TransactionsDeps,
): ChainTransactionsService => {
  const { registry, clock } = deps;
  const repository = createTransactionRepository(deps.database);
  const broadcaster = createBroadcaster({ ...deps, repository });
  const keyIds = deps.executorKeyIds ?? EXECUTOR_KEY_IDS;
  const sign = createVersionSigner(deps.signer, keyIds);
  const mayCall = deps.mayCall ?? (() => Promise.resolve(true));
  const reconciler = createReconciler({ ...deps, repository, broadcaster, sign });
  // Callers wait for a nonce in this queue, so that they do not all hold a database connection.
  const nonces = createKeyedQueue();
  const known = new Set<string>();

  /**
   * The nonce for an account's first transaction. Read before the database transaction begins,
   * because no network call may be made inside of it.
   */
  const firstNonceOf = async (chainId: number, from: EvmAddress): Promise<bigint> => {
    const key = `${chainId}:${from}`;
    if (known.has(key) || (await repository.hasNonce(chainId, from))) {
      known.add(key);
      return 0n;
    }
    const count = await chainCall(chainId, () =>
      registry.client(chainId).getTransactionCount({ address: from, blockTag: "pending" }),
    );
    return BigInt(count);
  };

  const store = async (
    input: NewTransaction,
    claim: ((tx: Tx) => Promise<boolean>) | undefined,
  ): Promise<StoredTransaction> => {
    const { chainId, keyId, fees, carries = [], ...rest } = input;
    const from = await sign.addressOf(keyId);
    const { rollup } = registry.get(chainId);
    const parentFeeWei = await chainCall(chainId, () =>
      parentFeeBesideGas(registry.client(chainId), {
        chainId,
        rollup,
        to: input.to,
        data: input.data,
      }),
    );
    const cost = input.value + input.gas * fees.maxFeePerGas + parentFeeWei;
    await broadcaster.assertAffordable({ chainId, from, cost });
    const firstNonce = await firstNonceOf(chainId, from);
    const row = { id: newId("transaction"), chainId, from, ...rest, createdAt: clock.now() };
    const signWith = (nonce: bigint): Promise<SignedVersion> =>
      sign.version(keyId, row, { nonce, ...fees });
    const inserted = await nonces.run(`${chainId}:${from}`, () =>
      repository.insert({ row, firstNonce, sign: signWith, carries, claim }),
    );
    return inserted ?? stored(await repository.find(chainId, input.purpose));
  };

  return {
    chooseKey: createKeyChoice({ registry, repository, sign, keyIds, mayCall }),

    find: async (chainId, purpose) => {
      const found = await repository.find(chainId, purpose);
      return found === null ? null : toSent(found);
    },

    send: async (input, claim) => {
      // A bundle is not looked up by its purpose: its user operations show whether it was stored
      // before.
      const earlier =
        input.carries === undefined
          ? await repository.find(input.chainId, input.purpose)
          : null;
      const transaction = earlier ?? (await store(input, claim));
      if (transaction.minedHash !== null) return toSent(transaction);
      const isOffered = await broadcaster.offer(transaction);
      return toSent(
        isOffered && transaction.status === "signed"
          ? { ...transaction, status: "broadcast" }
          : transaction,
      );
    },

    resend: async (transactionId) => {
      const transaction = await repository.findById(transactionId);
      if (transaction !== null && transaction.minedHash === null)
        await broadcaster.offer(transaction);
    },

    bundleTransactionsOf: async (chainId, userOpHashes) => {
      const bundles = await repository.bundles(chainId, userOpHashes);
      return new Map(
        bundles.map(({ userOpHash, attempts, transaction }) => [
          userOpHash,
          { attempts, transaction: toSent(transaction) },
        ]),
      );
    },

    reconcile: reconciler.reconcile,
  };
};

const stored = (found: StoredTransaction | null): StoredTransaction => {
  if (found === null)
    throw new DomainError("internal_error", "A transaction is missing that was just stored.");
  return found;
};
