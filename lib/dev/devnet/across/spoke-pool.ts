import {
  encodeAbiParameters,
  encodeFunctionData,
  keccak256,
  pad,
  parseAbi,
  parseAbiParameters,
  parseEventLogs,
  slice,
  zeroHash,
  type Address,
  type ContractEventName,
  type Hex,
  type Log,
  type ParseEventLogsReturnType,
} from "viem";

/** The functions and events of Across' SpokePool that a relayer and the settlement need. */
export const spokePoolAbi = parseAbi([
  "struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }",
  "struct RefundLeaf { uint256 amountToReturn; uint256 chainId; uint256[] refundAmounts; uint32 leafId; address l2TokenAddress; address[] refundAddresses; }",
  "struct RelayExecutionInfo { bytes32 updatedRecipient; bytes32 updatedMessageHash; uint256 updatedOutputAmount; uint8 fillType; }",
  "function fillRelay(RelayData relayData, uint256 repaymentChainId, bytes32 repaymentAddress)",
  "function fillStatuses(bytes32 relayHash) view returns (uint256)",
  "function rootBundles(uint256 index) view returns (bytes32 slowRelayRoot, bytes32 relayerRefundRoot)",
  "function relayRootBundle(bytes32 relayerRefundRoot, bytes32 slowRelayRoot)",
  "function executeRelayerRefundLeaf(uint32 rootBundleId, RefundLeaf relayerRefundLeaf, bytes32[] proof) payable",
  "function multicall(bytes[] data) returns (bytes[] results)",
  "event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)",
  "event FilledRelay(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 repaymentChainId, uint256 indexed originChainId, uint256 indexed depositId, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 exclusiveRelayer, bytes32 indexed relayer, bytes32 depositor, bytes32 recipient, bytes32 messageHash, RelayExecutionInfo relayExecutionInfo)",
  "event RelayedRootBundle(uint32 indexed rootBundleId, bytes32 indexed relayerRefundRoot, bytes32 indexed slowRelayRoot)",
  "event ExecutedRelayerRefundRoot(uint256 amountToReturn, uint256 indexed chainId, uint256[] refundAmounts, uint32 indexed rootBundleId, uint32 indexed leafId, address l2TokenAddress, address[] refundAddresses, bool deferredRefunds, address caller)",
]);

type LogsOf<N extends ContractEventName<typeof spokePoolAbi>> = ParseEventLogsReturnType<
  typeof spokePoolAbi,
  N,
  true
>;
/** Parses the SpokePool's events from logs, in their order. */
export const parseSpokePoolLogs = (logs: Log[]) =>
  parseEventLogs({ abi: spokePoolAbi, logs, strict: true });
export type SpokePoolLogs = ReturnType<typeof parseSpokePoolLogs>;
type DepositArguments = LogsOf<"FundsDeposited">[number]["args"];

/** A deposit as its origin chain logged it. Amounts in base units, times in Unix seconds. */
export interface Deposit {
  readonly originChainId: number;
  readonly destinationChainId: number;
  readonly depositId: bigint;
  readonly depositor: Address;
  readonly recipient: Address;
  readonly inputToken: Address;
  readonly outputToken: Address;
  readonly inputAmount: bigint;
  readonly outputAmount: bigint;
  readonly fillDeadline: number;
  readonly message: Hex;
  readonly relayData: RelayData;
}

interface RelayData {
  readonly depositor: Hex;
  readonly recipient: Hex;
  readonly exclusiveRelayer: Hex;
  readonly inputToken: Hex;
  readonly outputToken: Hex;
  readonly inputAmount: bigint;
  readonly outputAmount: bigint;
  readonly originChainId: bigint;
  readonly depositId: bigint;
  readonly fillDeadline: number;
  readonly exclusivityDeadline: number;
  readonly message: Hex;
}

/**
 * Reads an EVM address from a 32-byte word, in which the contract stores addresses of any chain.
 * The EVM address is the last 20 bytes.
 */
export const addressOf = (word: Hex): Address => slice(word, 12);

export const readDeposit = (originChainId: number, args: DepositArguments): Deposit => ({
  originChainId,
  destinationChainId: Number(args.destinationChainId),
  depositId: args.depositId,
  depositor: addressOf(args.depositor),
  recipient: addressOf(args.recipient),
  inputToken: addressOf(args.inputToken),
  outputToken: addressOf(args.outputToken),
  inputAmount: args.inputAmount,
  outputAmount: args.outputAmount,
  fillDeadline: args.fillDeadline,
  message: args.message,
  relayData: {
    depositor: args.depositor,
    recipient: args.recipient,
    exclusiveRelayer: args.exclusiveRelayer,
    inputToken: args.inputToken,
    outputToken: args.outputToken,
    inputAmount: args.inputAmount,
    outputAmount: args.outputAmount,
    originChainId: BigInt(originChainId),
    depositId: args.depositId,
    fillDeadline: args.fillDeadline,
    exclusivityDeadline: args.exclusivityDeadline,
    message: args.message,
  },
});

const relayHashParameters = parseAbiParameters([
  "RelayData relayData, uint256 destinationChainId",
  "struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }",
]);

/** Key of a deposit in the destination's `fillStatuses`. */
export const relayHash = ({ relayData, destinationChainId }: Deposit): Hex =>
  keccak256(encodeAbiParameters(relayHashParameters, [relayData, BigInt(destinationChainId)]));

export const FILLED = 2n;

/**
 * Encodes the call that fills a deposit from the relayer's own balance and requests repayment on
 * the deposit's origin chain.
 */
export const fillCall = ({ relayData }: Deposit, relayer: Address): Hex =>
  encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "fillRelay",
    args: [relayData, relayData.originChainId, pad(relayer)],
  });

const leafParameters = parseAbiParameters([
  "RefundLeaf leaf",
  "struct RefundLeaf { uint256 amountToReturn; uint256 chainId; uint256[] refundAmounts; uint32 leafId; address l2TokenAddress; address[] refundAddresses; }",
]);

export interface Settlement {
  readonly deposit: Deposit;
  /** The relayer that filled the deposit, or the depositor when nobody did. */
  readonly to: Address;
}

/**
 * Highest deposit number that can be settled here, because it becomes the id of a leaf, and leaf
 * ids have 32 bits. Callers may choose larger numbers for their deposits.
 */
export const LEAF_ID_MAX = 0xffff_ffffn;

/**
 * Pays out deposits on their origin chain. Each deposit gets a separate root, whose only leaf has
 * the deposit's number as id, so that the chain's logs show which deposits are settled. All calls
 * are in one transaction, and they name the id of the first root. If another settlement came
 * first, the ids do not match, and the transaction reverts instead of paying twice.
 */
export const settleCall = (
  settlements: readonly Settlement[],
  firstRootBundleId: number,
): Hex =>
  encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "multicall",
    args: [
      settlements.flatMap(({ deposit, to }, index) => {
        const leaf = {
          amountToReturn: 0n,
          chainId: BigInt(deposit.originChainId),
          refundAmounts: [deposit.inputAmount],
          leafId: Number(deposit.depositId),
          l2TokenAddress: deposit.inputToken,
          refundAddresses: [to],
        };
        // The root of a tree with one leaf is that leaf's hash.
        const root = keccak256(encodeAbiParameters(leafParameters, [leaf]));
        return [
          encodeFunctionData({
            abi: spokePoolAbi,
            functionName: "relayRootBundle",
            args: [root, zeroHash],
          }),
          encodeFunctionData({
            abi: spokePoolAbi,
            functionName: "executeRelayerRefundLeaf",
            args: [firstRootBundleId + index, leaf, []],
          }),
        ];
      }),
    ],
  });
