/** Reads the leaves of refund roots, and the transfers that pay them. */
import { isAddressEqual, slice, type TransactionReceipt } from "viem";
import { agreedAnswer } from "@/lib/chain/agreement";
import { DomainError } from "@/lib/core/errors";
import type { Token } from "@/lib/core/token";
import type { EvmAddress } from "@/lib/core/evm";
import type { NamedRefund, RefundFound, RefundPayment } from "@/lib/money/ports/routing";
import { type DepositRecord, erc20TransferAbi, spokePoolAbi } from "./plan";
import { askChain, type OnchainDeps } from "./chain-access";
import { eventsOf } from "./receipts";

/** A leaf of a refund root that pays the deposit's depositor in the deposit's token. */
export interface Leaf {
  readonly rootBundleId: number;
  readonly leafId: number;
  readonly amount: bigint;
  readonly txHash: `0x${string}`;
  readonly blockNumber: bigint;
  readonly logIndex: number;
}

export const originSpokePool = (
  { registry }: OnchainDeps,
  { originChainId }: DepositRecord,
): EvmAddress | undefined => registry.get(originChainId).contracts.across?.spokePool;

/**
 * The token in which the bridge refunds the deposit.
 * @throws DomainError `unsupported_token` when it is no longer configured
 */
export const refundToken = (
  { registry }: OnchainDeps,
  { originChainId, inputToken }: DepositRecord,
): Token => {
  const address = slice(inputToken, 12);
  const token = registry
    .tokens(originChainId)
    .find((listed) => listed.address !== "native" && isAddressEqual(listed.address, address));
  if (token !== undefined) return token;
  const wrapped = registry.wrappedNative(originChainId);
  if (wrapped.address !== "native" && isAddressEqual(wrapped.address, address)) return wrapped;
  throw new DomainError(
    "unsupported_token",
    `The refunded token ${address} is not configured any more.`,
  );
};

/**
 * The leaves executed in the range of blocks that pay the deposit's depositor in the deposit's
 * token.
 */
export const leavesIn = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  range: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly Leaf[]> => {
  const [token, depositor] = [slice(deposit.inputToken, 12), slice(deposit.depositor, 12)];
  const logs = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.getContractEvents({
      address: originSpokePool(deps, deposit),
      abi: spokePoolAbi,
      eventName: "ExecutedRelayerRefundRoot",
      args: { chainId: BigInt(deposit.originChainId) },
      fromBlock: range.from,
      toBlock: range.to,
      strict: true,
    }),
  );
  return logs.flatMap(({ args, transactionHash, blockNumber, logIndex }) => {
    const index = args.refundAddresses.findIndex((address) =>
      isAddressEqual(address, depositor),
    );
    const amount = args.refundAmounts[index];
    const { rootBundleId, leafId } = args;
    return amount === undefined || !isAddressEqual(args.l2TokenAddress, token)
      ? []
      : [{ rootBundleId, leafId, amount, txHash: transactionHash, blockNumber, logIndex }];
  });
};

type Log = TransactionReceipt["logs"][number];

/**
 * The transfers in `logs` of the deposit's token to its depositor, from any sender or only from
 * `from`.
 */
const transfersOf = (
  deposit: DepositRecord,
  logs: readonly Log[],
  from?: EvmAddress,
): readonly RefundPayment[] => {
  const [token, depositor] = [slice(deposit.inputToken, 12), slice(deposit.depositor, 12)];
  return logs.flatMap((log): RefundPayment[] => {
    const [event] = eventsOf(erc20TransferAbi, token, [log]);
    if (event === undefined || !isAddressEqual(event.args.to, depositor)) return [];
    if (
      from === undefined
        ? isAddressEqual(event.args.from, depositor)
        : !isAddressEqual(event.args.from, from)
    )
      return [];
    const { transactionHash: txHash, blockNumber, logIndex } = log;
    return [
      {
        chainId: deposit.originChainId,
        txHash,
        blockNumber,
        logIndex,
        paidBase: event.args.value,
      },
    ];
  });
};

/**
 * The transfers of the leaf to the depositor. In the logs they are between the previous leaf's
 * event and the leaf's own event.
 */
export const paymentsOf = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  spokePool: EvmAddress,
  signal: AbortSignal,
): Promise<readonly RefundPayment[]> => {
  const receipt = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.getTransactionReceipt({ hash: leaf.txHash }),
  );
  const before = receipt.logs
    .filter(({ logIndex }) => logIndex < leaf.logIndex)
    .findLast((log) =>
      eventsOf(spokePoolAbi, spokePool, [log]).some(
        ({ eventName }) => eventName === "ExecutedRelayerRefundRoot",
      ),
    );
  const logs = receipt.logs.filter(
    ({ logIndex }) =>
      logIndex < leaf.logIndex && (before === undefined || logIndex > before.logIndex),
  );
  return transfersOf(deposit, logs, spokePool);
};

/** The time of a block, in Unix seconds. */
export const timeOf = async (
  deps: OnchainDeps,
  chainId: number,
  blockNumber: bigint,
  signal: AbortSignal,
): Promise<number> => {
  const block = await askChain(deps, chainId, signal, (client) =>
    client.getBlock({ blockNumber }),
  );
  return Number(block.timestamp);
};

const receiptOf = (
  deps: OnchainDeps,
  chainId: number,
  hash: `0x${string}`,
  signal: AbortSignal,
) =>
  askChain(deps, chainId, signal, async (client) => {
    try {
      return await client.getTransactionReceipt({ hash });
    } catch (error) {
      if (error instanceof Error && error.name === "TransactionReceiptNotFoundError")
        return null;
      throw error;
    }
  });

/** Reads refunds from a transaction that a person has named, with any sender. */
export const createRefundReader = (deps: OnchainDeps) => {
  const read = async (
    view: OnchainDeps,
    deposit: DepositRecord,
    txHash: `0x${string}`,
    signal: AbortSignal,
  ): Promise<readonly RefundFound[]> => {
    const receipt = await receiptOf(view, deposit.originChainId, txHash, signal);
    if (receipt?.status !== "success" || receipt.blockNumber < deposit.originBlock) return [];
    const time = await timeOf(view, deposit.originChainId, receipt.blockNumber, signal);
    if (time + view.tuning.clockSkewSeconds < deposit.fillDeadline) return [];
    const token = refundToken(view, deposit);
    return transfersOf(deposit, receipt.logs)
      .filter(({ paidBase }) => paidBase >= deposit.inputAmount)
      .map((payment) => ({ ...payment, refundedBase: deposit.inputAmount, token }));
  };
  return (
    deposit: DepositRecord,
    { txHash, agreed = false }: NamedRefund,
    signal: AbortSignal,
  ): Promise<readonly RefundFound[]> =>
    agreed
      ? agreedAnswer({
          registry: deps.registry,
          chainId: deposit.originChainId,
          look: (registry) => read({ ...deps, registry }, deposit, txHash, signal),
          isExpected: (found) => found.length > 0,
        })
      : read(deps, deposit, txHash, signal);
};
