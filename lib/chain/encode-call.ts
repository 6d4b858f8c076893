import { encodeFunctionData, prepareEncodeFunctionData, type Abi, type Hex } from "viem";

interface Call {
  readonly abi: Abi;
  readonly functionName: string;
  readonly args?: readonly unknown[];
}

type Prepared = Pick<Parameters<typeof encodeFunctionData>[0], "abi" | "functionName">;

const prepared = new WeakMap<Abi, Map<string, Prepared>>();

const isOverloaded = ({ abi, functionName }: Call): boolean =>
  abi.filter((item) => item.type === "function" && item.name === functionName).length > 1;

const preparedOf = (call: Call): Prepared => {
  const { abi, functionName } = call;
  const known = prepared.get(abi) ?? new Map<string, Prepared>();
  prepared.set(abi, known);
  // Overloaded functions are not cached, because only the arguments tell which one is meant.
  const found =
    known.get(functionName) ??
    (isOverloaded(call) ? { abi, functionName } : prepareEncodeFunctionData(call));
  known.set(functionName, found);
  return found;
};

/**
 * Like viem's `encodeFunctionData`, but hashes the selector of each function only once. The ABI
 * must be a constant.
 * @example const data = encodeCall({ abi: erc20Abi, functionName: "transfer", args: [recipient,
 * amountBase] });
 */
export const encodeCall = ((call: Call): Hex => {
  const { args } = call;
  return encodeFunctionData({ ...preparedOf(call), ...(args === undefined ? {} : { args }) });
}) as typeof encodeFunctionData;
