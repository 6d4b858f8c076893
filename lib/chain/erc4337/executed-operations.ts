import {
  type Address,
  decodeFunctionData,
  getAddress,
  type Hex,
  hexToBigInt,
  hexToNumber,
  parseAbiItem,
  size,
  slice,
  zeroAddress,
} from "viem";
import { entryPoint07Abi } from "viem/account-abstraction";
import { markedPaymasterAbi } from "./marked-paymaster";
import { type BundleQuery, type OperationReceipt, operationsOf } from "./operation-receipt";
import { hashUserOperation, type UserOperationFields } from "./user-operation";
import { chainCall, type ChainRegistry } from "@/lib/chain/registry";

// Finds the user operations that accounts executed. The logs of EntryPoint name the operations, and
// the call data of the bundle transactions has their content.

const userOperationEvent = parseAbiItem(
  "event UserOperationEvent(bytes32 indexed userOpHash, address indexed sender, address indexed paymaster, uint256 nonce, bool success, uint256 actualGasCost, uint256 actualGasUsed)",
);
const SENDERS_PER_QUERY = 500;
const SEQUENCE_BITS = 64n;

export interface ExecutedOperation {
  readonly userOpHash: Hex;
  readonly sender: Address;
  readonly nonceKey: bigint;
  /** False when the operation's calls reverted, so that the operation moved nothing. */
  readonly success: boolean;
  readonly txHash: Hex;
  readonly blockNumber: bigint;
  readonly gasCostWei: bigint;
  /** Null when the account paid for its gas. */
  readonly paymaster: Address | null;
}

interface Search {
  readonly senders: readonly Address[];
  /**
   * Operations that this paymaster paid for are also returned, whoever sent them. Null to search
   * only by sender.
   */
  readonly paymaster: Address | null;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** All operations that the senders executed or the paymaster paid for, in a range of blocks. */
export const executedOperations = async (
  { client, entryPoint, rangeBlocks }: BundleQuery,
  { senders, paymaster, fromBlock, toBlock }: Search,
): Promise<readonly ExecutedOperation[]> => {
  const found = new Map<Hex, ExecutedOperation>();
  const pages = Array.from(
    { length: Math.ceil(senders.length / SENDERS_PER_QUERY) },
    (_, page) => senders.slice(page * SENDERS_PER_QUERY, (page + 1) * SENDERS_PER_QUERY),
  );
  const filters = [
    ...pages.map((sender) => ({ sender })),
    ...(paymaster === null ? [] : [{ paymaster }]),
  ];
  for (let from = fromBlock; from <= toBlock;) {
    const end = from + rangeBlocks() - 1n;
    const range = { fromBlock: from, toBlock: end < toBlock ? end : toBlock };
    for (const args of filters) {
      const query = {
        address: entryPoint,
        event: userOperationEvent,
        args,
        strict: true,
        ...range,
      } as const;
      for (const { args: seen, transactionHash, blockNumber } of await client.getLogs(query))
        found.set(seen.userOpHash, {
          ...{
            userOpHash: seen.userOpHash,
            sender: seen.sender,
            nonceKey: seen.nonce >> SEQUENCE_BITS,
          },
          ...{ success: seen.success, txHash: transactionHash, blockNumber },
          ...{
            gasCostWei: seen.actualGasCost,
            paymaster: seen.paymaster === zeroAddress ? null : seen.paymaster,
          },
        });
    }
    from = range.toBlock + 1n;
  }
  return [...found.values()];
};

interface Packed {
  readonly sender: Address;
  readonly nonce: bigint;
  readonly initCode: Hex;
  readonly callData: Hex;
  readonly accountGasLimits: Hex;
  readonly preVerificationGas: bigint;
  readonly gasFees: Hex;
  readonly paymasterAndData: Hex;
  readonly signature: Hex;
}

const ADDRESS_BYTES = 20;
const WORD_HALF = 16;
const half = (word: Hex, index: 0 | 1): bigint =>
  hexToBigInt(slice(word, index * WORD_HALF, (index + 1) * WORD_HALF));
const rest = (data: Hex, from: number): Hex => (size(data) > from ? slice(data, from) : "0x");

const unpacked = (packed: Packed): UserOperationFields => ({
  ...{
    sender: packed.sender,
    nonce: packed.nonce,
    callData: packed.callData,
    signature: packed.signature,
  },
  ...(size(packed.initCode) < ADDRESS_BYTES
    ? {}
    : {
        factory: getAddress(slice(packed.initCode, 0, ADDRESS_BYTES)),
        factoryData: rest(packed.initCode, ADDRESS_BYTES),
      }),
  verificationGasLimit: half(packed.accountGasLimits, 0),
  callGasLimit: half(packed.accountGasLimits, 1),
  preVerificationGas: packed.preVerificationGas,
  maxPriorityFeePerGas: half(packed.gasFees, 0),
  maxFeePerGas: half(packed.gasFees, 1),
  ...(size(packed.paymasterAndData) < ADDRESS_BYTES + 2 * WORD_HALF
    ? {}
    : {
        paymaster: getAddress(slice(packed.paymasterAndData, 0, ADDRESS_BYTES)),
        paymasterVerificationGasLimit: half(rest(packed.paymasterAndData, ADDRESS_BYTES), 0),
        paymasterPostOpGasLimit: half(rest(packed.paymasterAndData, ADDRESS_BYTES), 1),
        paymasterData: rest(packed.paymasterAndData, ADDRESS_BYTES + 2 * WORD_HALF),
      }),
});

/**
 * The operations in the call data of a bundle. Empty unless the data calls EntryPoint or the
 * project's paymaster.
 */
export const operationsInCall = (data: Hex): readonly UserOperationFields[] => {
  for (const abi of [entryPoint07Abi, markedPaymasterAbi]) {
    try {
      const { functionName, args } = decodeFunctionData({ abi, data });
      if (functionName === "handleOps" || functionName === "handleMarkedOps")
        return (args[0] as readonly Packed[]).map(unpacked);
    } catch {
      // The call is to another contract.
    }
  }
  return [];
};

const VALID_AFTER_BYTES = 6;

/**
 * The time until which a Safe's operation may be executed. The signature begins with the validity.
 */
export const validUntilOf = ({ signature }: Pick<UserOperationFields, "signature">): Date =>
  new Date(hexToNumber(slice(signature, VALID_AFTER_BYTES, 2 * VALID_AFTER_BYTES)) * 1000);

export interface ExecutedContent {
  /** Null when the bundle's call cannot be decoded. */
  readonly operation: UserOperationFields | null;
  readonly receipt: OperationReceipt | null;
  readonly input: Hex;
}

/**
 * Reads the content of an executed operation from its transaction.
 * @throws DomainError `chain_unavailable`
 */
export const contentOf = async (
  registry: Pick<ChainRegistry, "get" | "client">,
  chainId: number,
  { txHash, userOpHash }: Pick<ExecutedOperation, "txHash" | "userOpHash">,
): Promise<ExecutedContent> => {
  const client = registry.client(chainId);
  const { entryPoint } = registry.get(chainId).contracts;
  const [{ input }, bundle] = await chainCall(chainId, () =>
    Promise.all([
      client.getTransaction({ hash: txHash }),
      client.getTransactionReceipt({ hash: txHash }),
    ]),
  );
  const operation = operationsInCall(input).find(
    (each) => hashUserOperation(each, chainId, entryPoint) === userOpHash,
  );
  return {
    operation: operation ?? null,
    receipt: operationsOf(bundle, entryPoint).get(userOpHash) ?? null,
    input,
  };
};

/**
 * The call data from which payments are read. If the bundle cannot be decoded, it is the data of
 * the whole transaction, which may show too many payments but misses none.
 */
export const callDataOf = ({
  operation,
  input,
}: Pick<ExecutedContent, "operation" | "input">): Hex => operation?.callData ?? input;
