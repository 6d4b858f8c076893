import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import { finalBlockNumber } from "./blocks";
import { chainCall, type ChainRegistry } from "./registry";

const REMEMBERED_MAX = 100_000;
/** Minimum time between two checks of whether a contract is in a final block. */
const RECHECK_MS = 5_000;

type Registry = Pick<ChainRegistry, "get" | "client">;

export interface Deployments {
  /** Whether the address has code at the latest block. @throws DomainError `chain_unavailable` */
  isDeployed(chainId: number, address: Address): Promise<boolean>;
}

/**
 * Reads whether contracts exist. A contract whose code is in a final block is cached, because an
 * operation checks its account three times. No reorganisation removes such a contract, and since
 * EIP-6780 a contract can be destroyed only in the transaction that created it.
 */
export const createDeployments = (registry: Registry): Deployments => {
  const remembered = new LRUCache<string, true>({ max: REMEMBERED_MAX });
  const looked = new LRUCache<string, true>({ max: REMEMBERED_MAX, ttl: RECHECK_MS });

  const hasCode = async (
    chainId: number,
    address: Address,
    blockNumber?: bigint,
  ): Promise<boolean> => {
    const at = blockNumber === undefined ? {} : { blockNumber };
    return ((await registry.client(chainId).getCode({ address, ...at })) ?? "0x") !== "0x";
  };

  const rememberWhenFinal = async (
    chainId: number,
    address: Address,
    key: string,
  ): Promise<void> => {
    if (looked.has(key)) return;
    looked.set(key, true);
    const number = await finalBlockNumber(
      registry,
      chainId,
      await registry.client(chainId).getBlockNumber(),
    );
    if (number !== null && (await hasCode(chainId, address, number))) remembered.set(key, true);
  };

  return {
    isDeployed: async (chainId, address) => {
      const key = `${String(chainId)}:${address}`;
      if (remembered.has(key)) return true;
      const isDeployed = await chainCall(chainId, () => hasCode(chainId, address));
      // The check for a final block runs in the background. It fails at a node without the state of
      // final blocks. The contract is then not cached, which only costs further requests.
      if (isDeployed) rememberWhenFinal(chainId, address, key).catch(() => undefined);
      return isDeployed;
    },
  };
};
