import type { Logger } from "pino";
import { formatUnits } from "viem";
import { chainCall, type ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import { DomainError } from "@/lib/core/errors";
import type { EvmAddress } from "@/lib/ports/routing";
import type { StoredTransaction, TransactionRepository } from "./repository";

interface BroadcasterDeps {
  readonly registry: ChainRegistry;
  readonly repository: TransactionRepository;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
}

interface Expense {
  readonly chainId: number;
  readonly from: EvmAddress;
  /** Maximum cost of the transaction, in wei. */
  readonly cost: bigint;
}

export interface Broadcaster {
  /**
   * Sends the stored bytes to the chain's private relay, or to its node without one. True when it has them now. Every other outcome (time-out, refusal,
   * an invalid answer) is unknown, not failed: the row stays, and reconciling sends it again.
   */
  offer(transaction: StoredTransaction): Promise<boolean>;
  /** @throws DomainError `provider_error`, naming the account to fund */
  assertAffordable(expense: Expense): Promise<void>;
}

export const createBroadcaster = ({ registry, repository, clock, log }: BroadcasterDeps): Broadcaster => {
  const shortage = async ({ chainId, from, cost }: Expense): Promise<string | null> => {
    const balance = await chainCall(chainId, () => registry.client(chainId).getBalance({ address: from }));
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
   * A node may refuse a transaction that it already has. Error texts differ between nodes, so the node is asked for the
   * transaction instead.
   */
  const isKnown = ({ chainId, hash }: StoredTransaction): Promise<boolean> => {
    // A relay may know it before it is mined, and every node after.
    const clients = new Set([registry.sender(chainId), registry.client(chainId)]);
    return Promise.any([...clients].map((client) => client.getTransaction({ hash }))).then(
      () => true,
      () => false,
    );
  };

  const warn = async (transaction: StoredTransaction, error: unknown): Promise<void> => {
    const { id, chainId, from, nonce, hash, value, gas, maxFeePerGas } = transaction;
    const unfunded = await shortage({ chainId, from, cost: value + gas * maxFeePerGas }).catch(() => null);
    const reason = error instanceof Error ? error.message.split("\n")[0] : "unknown";
    log.warn({ transactionId: id, chainId, from, nonce: nonce.toString(), hash, reason }, unfunded ?? "not broadcast");
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
      if (transaction.status === "signed") await repository.markBroadcast(transaction, clock.now());
      return true;
    },

    assertAffordable: async (expense) => {
      const message = await shortage(expense);
      if (message !== null) throw new DomainError("provider_error", message);
    },
  };
};
