/** Reads the coins from which the service pays network fees. */
import { formatUnits, parseAbi, type Address } from "viem";
import type { ChainRegistry } from "./registry";

const depositAbi = parseAbi(["function balanceOf(address account) view returns (uint256)"]);

/** In whole coins of the chain. */
export interface GasBalances {
  /** The lowest balance of the executors; null without executors. */
  readonly executor: number | null;
  /** The paymaster's deposit at EntryPoint; null without a paymaster. */
  readonly paymaster: number | null;
}

/**
 * Balance, in whole coins, below which people are notified and the alert `CausewayGasLow` of
 * ops/prometheus fires.
 */
export const GAS_LOW_COINS = 0.05;

const lowestOf = (balances: readonly bigint[]): bigint | null =>
  balances.reduce<bigint | null>(
    (low, each) => (low === null || each < low ? each : low),
    null,
  );

/**
 * Reads the balances of the executors and of the paymaster on a chain.
 * @throws the node's error
 */
export const readGasBalances = async (
  registry: Pick<ChainRegistry, "get" | "client">,
  chainId: number,
  executors: readonly Address[],
): Promise<GasBalances> => {
  const { contracts, nativeCurrency } = registry.get(chainId);
  const client = registry.client(chainId);
  const coins = (wei: bigint): number => Number(formatUnits(wei, nativeCurrency.decimals));
  const lowest = lowestOf(
    await Promise.all(executors.map((address) => client.getBalance({ address }))),
  );
  const executor = lowest === null ? null : coins(lowest);
  if (contracts.paymaster === undefined) return { executor, paymaster: null };
  const args = [contracts.paymaster] as const;
  const deposit = {
    address: contracts.entryPoint,
    abi: depositAbi,
    functionName: "balanceOf",
    args,
  } as const;
  return { executor, paymaster: coins(await client.readContract(deposit)) };
};
