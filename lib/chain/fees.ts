import {
  type Address,
  type Hex,
  maxUint64,
  parseAbi,
  parseGwei,
  type PublicClient,
  serializeTransaction,
} from "viem";
import type { ChainConfig } from "@/lib/platform/config/chains";
import type { CappedFees } from "@/lib/core/capped-fees";
import { chainCall, type ChainRegistry } from "./registry";
import { divide } from "@/lib/core/decimal";

/**
 * Factor from the current base fee to the maximum. A base fee grows by at most an eighth per block
 * (EIP-1559), so twice the current base fee is enough for five full blocks.
 */
const BASE_FEE_FACTOR = 2n;

/** In wei per gas. */
interface SuggestedFees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** The current price of the next block: base fee and tip. */
  readonly pricePerGas: bigint;
}

/** Fees in wei per gas with which a transaction is mined soon. */
export const suggestFees = async (client: PublicClient): Promise<SuggestedFees> => {
  const [block, maxPriorityFeePerGas] = await Promise.all([
    client.getBlock({ blockTag: "latest" }),
    client.estimateMaxPriorityFeePerGas(),
  ]);
  const baseFee = block.baseFeePerGas ?? 0n;
  return {
    maxFeePerGas: baseFee * BASE_FEE_FACTOR + maxPriorityFeePerGas,
    maxPriorityFeePerGas,
    pricePerGas: baseFee + maxPriorityFeePerGas,
  };
};

// Limits fees to the highest network fee that the service pays on a chain.

const lower = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * Limits fees to the chain's cap. Reducing the maximum is safe while the current price is below the
 * cap: EIP-1559 charges only base fee and tip, and the rest of the maximum is a reserve for the
 * next blocks.
 */
export const capFees = (
  { feeCapGwei }: Pick<ChainConfig, "feeCapGwei">,
  suggested: SuggestedFees,
): CappedFees => {
  const { maxFeePerGas, maxPriorityFeePerGas, pricePerGas } = suggested;
  if (feeCapGwei === undefined) return { maxFeePerGas, maxPriorityFeePerGas, aboveCap: null };
  const capPerGas = parseGwei(feeCapGwei);
  return {
    maxFeePerGas: lower(maxFeePerGas, capPerGas),
    maxPriorityFeePerGas: lower(maxPriorityFeePerGas, capPerGas),
    aboveCap: pricePerGas > capPerGas ? { pricePerGas, capPerGas } : null,
  };
};

/** The chain's current fees, limited to its cap. @throws DomainError `chain_unavailable` */
export const feesWithinCap = async (
  registry: Pick<ChainRegistry, "get" | "client">,
  chainId: number,
): Promise<CappedFees> =>
  capFees(
    registry.get(chainId),
    await chainCall(chainId, () => suggestFees(registry.client(chainId))),
  );

// Computes the fee that a rollup's transaction pays for its data on the parent chain.

export type RollupKind = NonNullable<ChainConfig["rollup"]>;

/**
 * The contract that returns the fee for data. Its address is the same on every chain of the OP
 * stack.
 */
export const OP_GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000F";
/**
 * The contract that returns the gas for data. Its address is the same on every Arbitrum chain. The
 * address has no code; the node itself answers calls to it.
 */
export const ARBITRUM_NODE_INTERFACE: Address = "0x00000000000000000000000000000000000000C8";

/**
 * Reserve for a rise of the parent chain's price. The price can rise by two eighths in two blocks
 * (EIP-1559), and the fees of a signed operation cannot be raised.
 */
const ROOM_PERCENT = 25n;

const opAbi = parseAbi(["function getL1Fee(bytes unsignedTransaction) view returns (uint256)"]);
const arbitrumAbi = parseAbi([
  "function gasEstimateL1Component(address to, bool contractCreation, bytes data) view returns (uint64 gasEstimateForL1, uint256 baseFee, uint256 l1BaseFeeEstimate)",
]);

interface ParentCall {
  readonly chainId: number;
  readonly rollup: RollupKind | undefined;
  readonly to: Address;
  readonly data: Hex;
  /**
   * The maximum gas price that the transaction pays on this chain, in wei. The lower the price, the
   * more gas corresponds to the same fee.
   */
  readonly maxFeePerGas?: bigint;
}

/**
 * The data fee of a transaction on the OP stack, in wei. Unknown fields have their maximum values,
 * so that the data is not too short.
 */
const opFeeWei = (client: PublicClient, { chainId, to, data }: ParentCall): Promise<bigint> => {
  const wide = {
    nonce: Number(0xffff_ffffn),
    gas: maxUint64,
    maxFeePerGas: maxUint64,
    maxPriorityFeePerGas: maxUint64,
  };
  const transaction = serializeTransaction({ type: "eip1559", chainId, to, data, ...wide });
  return client.readContract({
    address: OP_GAS_PRICE_ORACLE,
    abi: opAbi,
    functionName: "getL1Fee",
    args: [transaction],
  });
};

const withRoom = (amount: bigint): bigint =>
  divide(amount * (100n + ROOM_PERCENT), 100n, "ceil");

/**
 * The fee that a transaction pays in addition to its gas, in wei, rounded up and with a reserve for
 * a rise of the parent chain's price. Only the OP stack charges it (otherwise 0); on Arbitrum, the
 * gas of the transaction includes it.
 * @throws viem's error when the node or the rollup's contract does not answer
 */
export const parentFeeBesideGas = async (
  client: PublicClient,
  call: ParentCall,
): Promise<bigint> =>
  call.rollup === "op-stack" ? withRoom(await opFeeWei(client, call)) : 0n;

/**
 * The amount of gas that corresponds to the fee for a call's data on the parent chain, rounded up,
 * at current prices and with a reserve for a rise. Returns 0 on a chain that is not configured as
 * a rollup. On Arbitrum, the transaction uses this gas. On the OP stack, the fee is charged in
 * addition to the gas.
 * @throws viem's error when the node or the rollup's contract does not answer
 */
export const parentGasOf = async (client: PublicClient, call: ParentCall): Promise<bigint> => {
  switch (call.rollup) {
    case undefined:
      return 0n;
    case "arbitrum": {
      const [gas] = await client.readContract({
        address: ARBITRUM_NODE_INTERFACE,
        abi: arbitrumAbi,
        functionName: "gasEstimateL1Component",
        args: [call.to, false, call.data],
      });
      return withRoom(gas);
    }
    case "op-stack": {
      const [feeWei, { pricePerGas }] = await Promise.all([
        opFeeWei(client, call),
        suggestFees(client),
      ]);
      // EntryPoint charges the lower of the operation's maximum and the current price.
      const price =
        call.maxFeePerGas === undefined ? pricePerGas : lower(call.maxFeePerGas, pricePerGas);
      return price === 0n ? 0n : divide(withRoom(feeWei), price, "ceil");
    }
  }
};
