/** Reads the coins from which the service pays network fees. */
import { formatUnits, parseAbi, type Address } from "viem";
import { suggestFees } from "./fees";
import type { ChainRegistry } from "./registry";

const depositAbi = parseAbi(["function balanceOf(address account) view returns (uint256)"]);

/** In whole coins of the chain. */
export interface GasBalances {
  /** The lowest balance of the executors; null without executors. */
  readonly executor: number | null;
  /** The paymaster's deposit at EntryPoint; null without a paymaster. */
  readonly paymaster: number | null;
  /** Cost of one large operation at the present price. */
  readonly operation: number;
}

/** Gas of one large operation. */
export const LARGE_OPERATION_GAS = 1_500_000n;

/**
 * Number of large operations at the present price. When a balance cannot pay for as many, people
 * are notified and the alert `CausewayGasLow` of ops/prometheus fires.
 */
export const GAS_LOW_OPERATIONS = 10;

const lowestOf = (balances: readonly bigint[]): bigint | null =>
  balances.reduce<bigint | null>(
    (low, each) => (low === null || each < low ? each : low),
    null,
  );

/**
 * Reads the balances of the executors and of the paymaster on a chain, and the chain's price.
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
  const [balances, { pricePerGas }] = await Promise.all([
    Promise.all(executors.map((address) => client.getBalance({ address }))),
    suggestFees(client),
  ]);
  const lowest = lowestOf(balances);
  const executor = lowest === null ? null : coins(lowest);
  const operation = coins(pricePerGas * LARGE_OPERATION_GAS);
  if (contracts.paymaster === undefined) return { executor, paymaster: null, operation };
  const args = [contracts.paymaster] as const;
  const deposit = {
    address: contracts.entryPoint,
    abi: depositAbi,
    functionName: "balanceOf",
    args,
  } as const;
  const paymaster = coins(await client.readContract(deposit));
  return { executor, paymaster, operation };
};
