import { concatHex, decodeErrorResult, encodeFunctionData, numberToHex, pad, parseAbi, size, type Hex } from "viem";

/** ABI of `Distributor.sol`, to which an account delegates a call. */
export const distributorAbi = parseAbi([
  "function payToken(address token, bytes rows)",
  "function payToken256(address token, bytes rows)",
  "function payCoin(bytes rows)",
  "function payCoin256(bytes rows)",
  "error RowFailed(uint256 index)",
  "error NotDelegated()",
  "error BadLength()",
  "error NoToken()",
]);

/** One payment of a batch. */
export interface DistributorRow {
  readonly recipient: `0x${string}`;
  /** In base units of the token, above zero. */
  readonly amountBase: bigint;
}

const PACKED_AMOUNT_MAX = 2n ** 96n - 1n;

/** One word a row: 160 bits of recipient, 96 of amount. */
const packed = ({ recipient, amountBase }: DistributorRow): Hex =>
  concatHex([recipient, numberToHex(amountBase, { size: 12 })]);

const wide = ({ recipient, amountBase }: DistributorRow): Hex =>
  concatHex([pad(recipient, { dir: "right", size: 32 }), numberToHex(amountBase, { size: 32 })]);

/**
 * Call data that pays every row or reverts. The account must delegate the call (Safe operation 1), so that it is itself the sender.
 * @param token address of an ERC-20 token, or `native` for the chain's coin
 */
export const distributeData = (token: `0x${string}` | "native", rows: readonly DistributorRow[]): Hex => {
  const fits = rows.every(({ amountBase }) => amountBase <= PACKED_AMOUNT_MAX);
  const data = concatHex(rows.map(fits ? packed : wide));
  return token === "native"
    ? encodeFunctionData({ abi: distributorAbi, functionName: fits ? "payCoin" : "payCoin256", args: [data] })
    : encodeFunctionData({ abi: distributorAbi, functionName: fits ? "payToken" : "payToken256", args: [token, data] });
};

/** Index of the row that made the batch revert, from the revert data; null when no row caused it. */
export const failedRowOf = (revertData: Hex): number | null => {
  if (size(revertData) < 4) return null;
  try {
    const { errorName, args } = decodeErrorResult({ abi: distributorAbi, data: revertData });
    return errorName === "RowFailed" ? Number(args[0]) : null;
  } catch {
    return null;
  }
};
