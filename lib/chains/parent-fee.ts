/** The fee that a rollup's transaction pays for its data on the parent chain. */
import { maxUint64, parseAbi, serializeTransaction, type Address, type Hex, type PublicClient } from "viem";
import type { ChainConfig } from "@/lib/config/chains";
import { divide } from "@/lib/core/decimal";
import { suggestFees } from "./fees";

export type RollupKind = NonNullable<ChainConfig["rollup"]>;

/** The same on every chain of the OP stack. */
export const OP_GAS_PRICE_ORACLE: Address = "0x420000000000000000000000000000000000000F";
/** The same on every Arbitrum chain. Its node answers for it; there is no code. */
export const ARBITRUM_NODE_INTERFACE: Address = "0x00000000000000000000000000000000000000C8";

/** The parent's price may rise by two eighths in its next two blocks (EIP-1559), and a signed operation cannot follow. */
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
  /** The most that a unit of gas pays here, in wei: with a lower price, more gas stands for the same fee. */
  readonly maxFeePerGas?: bigint;
}

const lower = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/** The fee in wei, which the transaction pays beside its gas. Numbers that are not known yet are counted as wide ones. */
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

const withRoom = (amount: bigint): bigint => divide(amount * (100n + ROOM_PERCENT), 100n, "ceil");

/**
 * The fee that a transaction takes from its sender beside its gas, in wei, with room for a rise of the parent's price; rounded up.
 * 0 except on the OP stack: on Arbitrum the gas of the transaction has it already.
 * @throws viem's error when the node or the rollup's contract does not answer
 */
export const parentFeeBesideGas = async (client: PublicClient, call: ParentCall): Promise<bigint> =>
  call.rollup === "op-stack" ? withRoom(await opFeeWei(client, call)) : 0n;

/**
 * The gas that stands for the fee of a call's data on the parent chain, at the present prices and with room for their rise; rounded up.
 * 0 on a chain that is no rollup, or one whose kind is not configured. On Arbitrum the transaction uses this gas; on the OP stack it
 * does not, and the fee is taken beside the gas.
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
      const [feeWei, { pricePerGas }] = await Promise.all([opFeeWei(client, call), suggestFees(client)]);
      // EntryPoint charges an operation the lower of its own maximum and the price of now.
      const price = call.maxFeePerGas === undefined ? pricePerGas : lower(call.maxFeePerGas, pricePerGas);
      return price === 0n ? 0n : divide(withRoom(feeWei), price, "ceil");
    }
  }
};
