import { formatUnits, keccak256 } from "viem";
import type { EvmAddress } from "@/lib/core/evm";
import type { Signer } from "@/lib/chain/ports/signer";
import type { SignedVersion, StoredTransaction, TransactionRepository } from "./repository";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";
import type { ExecutorKey, PlannedTransaction } from "@/lib/chain/ports/transactions";
import type { Logger } from "pino";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";

interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** Maximum ratio of a replacement's fee to the network's suggestion. */
const FACTOR_MAX = 5n;

/**
 * Raises the fee by an eighth, because nodes accept a replacement only when both fees are that much
 * higher.
 */
const withEighth = (fee: bigint): bigint => (fee * 9n + 7n) / 8n + 1n;

const higher = (one: bigint, other: bigint): bigint => (one > other ? one : other);

/**
 * Fees of the replacement: at least an eighth above `present`, and at least as high as the
 * network's suggestion (`suggested`). Null when they would be far above the suggestion, because
 * then another reason prevents mining. Null also when they would be above the chain's cap, so that
 * the transaction waits until the price falls.
 */
export const raisedFees = (present: Fees, suggested: Fees, cap: bigint | null): Fees | null => {
  const maxFeePerGas = higher(withEighth(present.maxFeePerGas), suggested.maxFeePerGas);
  const maxPriorityFeePerGas = higher(
    withEighth(present.maxPriorityFeePerGas),
    suggested.maxPriorityFeePerGas,
  );
  if (maxFeePerGas > suggested.maxFeePerGas * FACTOR_MAX) return null;
  if (cap !== null && higher(maxFeePerGas, maxPriorityFeePerGas) > cap) return null;
  return { maxFeePerGas: higher(maxFeePerGas, maxPriorityFeePerGas), maxPriorityFeePerGas };
};

interface Body {
  readonly chainId: number;
  readonly to: EvmAddress;
  readonly data: `0x${string}`;
  readonly value: bigint;
  readonly gas: bigint;
}

interface Terms {
  readonly nonce: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export interface VersionSigner {
  /** The address of a key. @throws Error when the service has no such key */
  addressOf(keyId: string): Promise<EvmAddress>;
  /** The id of the key of an address; null when the service no longer has the key. */
  keyOf(address: EvmAddress): Promise<string | null>;
  version(keyId: string, body: Body, terms: Terms): Promise<SignedVersion>;
}

/**
 * Creates a signer with cached addresses of the keys.
 * @param keyIds the service's keys that send transactions
 */
export const createVersionSigner = (
  signer: Signer,
  keyIds: readonly string[],
): VersionSigner => {
  const addresses = new Map<string, EvmAddress>();

  const addressOf = async (keyId: string): Promise<EvmAddress> => {
    const known = addresses.get(keyId);
    if (known !== undefined) return known;
    const address = await signer.address({ keyId, projectId: null });
    if (address === null) throw new Error(`The service has no key "${keyId}".`);
    addresses.set(keyId, address);
    return address;
  };

  return {
    addressOf,

    keyOf: async (address) => {
      for (const keyId of keyIds) if ((await addressOf(keyId)) === address) return keyId;
      return null;
    },

    version: async (keyId, body, terms) => {
      const raw = await signer.signTransaction(
        { keyId, projectId: null },
        {
          type: "eip1559",
          chainId: body.chainId,
          to: body.to,
          data: body.data,
          value: body.value,
          gas: body.gas,
          nonce: Number(terms.nonce),
          maxFeePerGas: terms.maxFeePerGas,
          maxPriorityFeePerGas: terms.maxPriorityFeePerGas,
        },
      );
      return { ...terms, raw, hash: keccak256(raw) };
    },
  };
};

interface ChooseKeyDeps {
  readonly registry: ChainRegistry;
  readonly repository: Pick<TransactionRepository, "unminedCounts">;
  readonly sign: Pick<VersionSigner, "addressOf">;
  /** The keys that share the load. The first one is used when no key can pay. */
  readonly keyIds: readonly string[];
  /** Whether a contract accepts calls from this account. */
  readonly mayCall: (chainId: number, from: EvmAddress, to: EvmAddress) => Promise<boolean>;
}

/**
 * Chooses the key with the fewest unmined transactions on the chain. Only keys that can pay and
 * that the called contract accepts are considered. Keys with equal numbers take turns.
 */
export const createKeyChoice = ({
  registry,
  repository,
  sign,
  keyIds,
  mayCall,
}: ChooseKeyDeps) => {
  let turn = 0;

  const isUsable = async (
    { address }: ExecutorKey,
    { chainId, to, costWei }: PlannedTransaction,
  ): Promise<boolean> => {
    const [balance, isAccepted] = await chainCall(chainId, () =>
      Promise.all([
        registry.client(chainId).getBalance({ address }),
        mayCall(chainId, address, to),
      ]),
    );
    return isAccepted && balance >= costWei;
  };

  return async (planned: PlannedTransaction): Promise<ExecutorKey> => {
    const keys = await Promise.all(
      keyIds.map(async (keyId) => ({ keyId, address: await sign.addressOf(keyId) })),
    );
    const [first] = keys;
    if (first === undefined) throw new Error("The service has no executor.");
    if (keys.length === 1) return first;
    const counts = await repository.unminedCounts(
      planned.chainId,
      keys.map(({ address }) => address),
    );
    turn += 1;
    const ordered = keys
      .map((key, index) => ({
        key,
        busy: counts.get(key.address) ?? 0,
        turn: (index + turn) % keys.length,
      }))
      .sort((one, other) => one.busy - other.busy || one.turn - other.turn);
    for (const { key } of ordered) if (await isUsable(key, planned)) return key;
    return first;
  };
};

interface BroadcasterDeps {
  readonly registry: ChainRegistry;
  readonly repository: TransactionRepository;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
}

interface Expense {
  readonly chainId: number;
  readonly from: EvmAddress;
  readonly cost: bigint;
}

export interface Broadcaster {
  /**
   * Sends the stored bytes to the chain's private relay, or to its node when it has no relay. True
   * when the relay or node has the transaction now. Every other outcome (time-out, error, invalid
   * answer) counts as unknown, not as failed: the row stays, and `reconcile` sends it again.
   */
  offer(transaction: StoredTransaction): Promise<boolean>;
  /**
   * Checks that the account can pay. @throws DomainError `provider_error`, naming the account to
   * fund
   */
  assertAffordable(expense: Expense): Promise<void>;
}

export const createBroadcaster = ({
  registry,
  repository,
  clock,
  log,
}: BroadcasterDeps): Broadcaster => {
  const shortage = async ({ chainId, from, cost }: Expense): Promise<string | null> => {
    const balance = await chainCall(chainId, () =>
      registry.client(chainId).getBalance({ address: from }),
    );
    if (balance >= cost) return null;
    const chain = registry.get(chainId);
    const amount = (wei: bigint): string =>
      `${formatUnits(wei, chain.nativeCurrency.decimals)} ${chain.nativeCurrency.symbol}`;
    return (
      `The service's account ${from} on ${chain.name} (chain ${chainId}) has ${amount(balance)} and needs up to ` +
      `${amount(cost)} for network fees. Whoever runs the service must send funds to it.`
    );
  };

  /**
   * Whether a node has the transaction. A node may refuse a transaction that it already has, and
   * error texts differ between nodes, so the error is not interpreted.
   */
  const isKnown = ({ chainId, hash }: StoredTransaction): Promise<boolean> => {
    // Before a transaction is mined, only the relay may know it. Afterwards every node knows it.
    const clients = new Set([registry.sender(chainId), registry.client(chainId)]);
    return Promise.any([...clients].map((client) => client.getTransaction({ hash }))).then(
      () => true,
      () => false,
    );
  };

  const warn = async (transaction: StoredTransaction, error: unknown): Promise<void> => {
    const { id, chainId, from, nonce, hash, value, gas, maxFeePerGas } = transaction;
    const unfunded = await shortage({ chainId, from, cost: value + gas * maxFeePerGas }).catch(
      () => null,
    );
    const reason = error instanceof Error ? error.message.split("\n")[0] : "unknown";
    log.warn(
      { transactionId: id, chainId, from, nonce: nonce.toString(), hash, reason },
      unfunded ?? "not broadcast",
    );
  };

  return {
    offer: async (transaction) => {
      const { chainId, raw } = transaction;
      try {
        await registry.sender(chainId).sendRawTransaction({ serializedTransaction: raw });
      } catch (error) {
        if (!(await isKnown(transaction))) {
          await warn(transaction, error);
          return false;
        }
      }
      if (transaction.status === "signed")
        await repository.markBroadcast(transaction, clock.now());
      return true;
    },

    assertAffordable: async (expense) => {
      const message = await shortage(expense);
      if (message !== null) throw new DomainError("provider_error", message);
    },
  };
};
