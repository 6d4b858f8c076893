import { isAddressEqual, slice } from "viem";
import { DomainError } from "@/lib/core/errors";
import type { BridgeProgress, EvmAddress } from "@/lib/ports/routing";
import { spokePoolAbi } from "./abis";
import { askChain, type OnchainDeps } from "./chain-access";
import { blockAtTime, createPositions, scanBlocks } from "./log-ranges";
import { depositKey, type DepositRecord } from "./plan";
import { eventsOf, sumTransfers } from "./receipts";

type Refunded = Extract<BridgeProgress, { state: "refunded" }>;

/** A refund root's leaf that pays our depositor in the deposit's token. */
interface Leaf {
  readonly leafId: number;
  /** The amount that the leaf pays to the depositor. */
  readonly amount: bigint;
  readonly txHash: `0x${string}`;
  readonly blockNumber: bigint;
  readonly logIndex: number;
}

/** Whether some of `amounts` add up to `target`. The caller bounds their number. */
export const someAddUpTo = (target: bigint, amounts: readonly bigint[]): boolean => {
  if (target === 0n) return true;
  const [first, ...rest] = amounts;
  if (target < 0n || first === undefined) return false;
  return someAddUpTo(target - first, rest) || someAddUpTo(target, rest);
};

const spokePoolOf = (deps: OnchainDeps, chainId: number): EvmAddress | undefined =>
  deps.registry.get(chainId).contracts.across?.spokePool;

const depositsOf = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  until: bigint,
  depositId: bigint | undefined,
  signal: AbortSignal,
) => {
  const reach = deps.tuning.siblingDepositBlocks;
  const from = deposit.originBlock > reach ? deposit.originBlock - reach : 0n;
  const logs = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.getContractEvents({
      address: spokePoolOf(deps, deposit.originChainId),
      abi: spokePoolAbi,
      eventName: "FundsDeposited",
      args: { depositor: deposit.depositor, ...(depositId === undefined ? {} : { depositId }) },
      fromBlock: from,
      toBlock: until < deposit.originBlock + reach ? until : deposit.originBlock + reach,
      strict: true,
    }),
  );
  return logs
    .map(({ args }) => args)
    .filter((args) => args.inputToken === deposit.inputToken && args.depositId !== deposit.depositId);
};

const isOurs = async (deps: OnchainDeps, deposit: DepositRecord, leaf: Leaf, signal: AbortSignal): Promise<boolean> => {
  if (leaf.amount < deposit.inputAmount) return false;
  if (leaf.amount === deposit.inputAmount) {
    if (BigInt(leaf.leafId) === deposit.depositId) return true;
    const named = await depositsOf(deps, deposit, leaf.blockNumber, BigInt(leaf.leafId), signal);
    return !named.some(({ inputAmount }) => inputAmount === leaf.amount);
  }
  const others = await depositsOf(deps, deposit, leaf.blockNumber, undefined, signal);
  const amounts = others.map(({ inputAmount }) => inputAmount);
  return amounts.length <= deps.tuning.aggregatedDepositsMax && someAddUpTo(leaf.amount - deposit.inputAmount, amounts);
};

/** A leaf executed before the fill deadline belongs to another deposit, because this one could still be filled then. */
const isTooEarly = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<boolean> => {
  const block = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.getBlock({ blockNumber: leaf.blockNumber }),
  );
  return Number(block.timestamp) + deps.tuning.clockSkewSeconds < deposit.fillDeadline;
};

/** The amount that the leaf's own transfers moved: those between the previous leaf's event and its own. */
const movedBy = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  spokePool: EvmAddress,
  signal: AbortSignal,
): Promise<bigint> => {
  const receipt = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.getTransactionReceipt({ hash: leaf.txHash }),
  );
  const before = receipt.logs
    .filter(({ logIndex }) => logIndex < leaf.logIndex)
    .findLast((log) =>
      eventsOf(spokePoolAbi, spokePool, [log]).some(({ eventName }) => eventName === "ExecutedRelayerRefundRoot"),
    );
  const logs = receipt.logs.filter(
    ({ logIndex }) => logIndex < leaf.logIndex && (before === undefined || logIndex > before.logIndex),
  );
  return sumTransfers(logs, slice(deposit.inputToken, 12), { from: spokePool, to: slice(deposit.depositor, 12) });
};

const leavesIn = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  spokePool: EvmAddress,
  range: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly Leaf[]> => {
  const [token, depositor] = [slice(deposit.inputToken, 12), slice(deposit.depositor, 12)];
  const logs = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.getContractEvents({
      address: spokePool,
      abi: spokePoolAbi,
      eventName: "ExecutedRelayerRefundRoot",
      args: { chainId: BigInt(deposit.originChainId) },
      fromBlock: range.from,
      toBlock: range.to,
      strict: true,
    }),
  );
  return logs.flatMap(({ args, transactionHash, blockNumber, logIndex }) => {
    const index = args.refundAddresses.findIndex((address) => isAddressEqual(address, depositor));
    const amount = args.refundAmounts[index];
    return amount === undefined || !isAddressEqual(args.l2TokenAddress, token)
      ? []
      : [{ leafId: args.leafId, amount, txHash: transactionHash, blockNumber, logIndex }];
  });
};

const startOf = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  head: bigint,
  signal: AbortSignal,
): Promise<bigint> => {
  const { originBlock, originChainId, fillDeadline } = deposit;
  if (head - originBlock <= deps.registry.logRangeBlocks(originChainId)) return originBlock;
  const time = fillDeadline - deps.tuning.clockSkewSeconds;
  return await blockAtTime(deps, { chainId: originChainId, low: originBlock, high: head, time }, signal);
};

/**
 * Finds the refund of an expired deposit on its origin chain.
 *
 * Across refunds by leaves that name an address, a token and an amount, not a deposit. A leaf counts as this deposit's when
 * it was executed after the deadline, pays the depositor in the deposit's token, really moved the tokens, and
 *   1. carries the deposit's number as leaf id and its exact amount (how a solver that refunds one by one does it), or
 *   2. has its exact amount and its leaf id is not the number of another deposit of the same depositor, or
 *   3. has a larger amount that the deposit and others of the same depositor and token add up to (one leaf sums them up).
 * What remains ambiguous: two expired deposits of one depositor with the same token and amount, refunded by two bundles, are
 * both told the first bundle. The sum is right once both are refunded; the earlier answer may name the other's transaction.
 */
export const createRefundSearch = (deps: OnchainDeps) => {
  const { registry, tuning } = deps;
  const positions = createPositions(tuning);

  /**
   * Null while nothing was refunded.
   * @throws DomainError `chain_unavailable`
   */
  return async (deposit: DepositRecord, signal: AbortSignal): Promise<Refunded | null> => {
    const { originChainId: chainId } = deposit;
    const spokePool = spokePoolOf(deps, chainId);
    if (spokePool === undefined) return null;
    const head = await askChain(deps, chainId, signal, (client) => client.getBlockNumber({ cacheTime: 0 }));
    const key = depositKey(deposit);
    const { found, scannedTo } = await scanBlocks(deps, {
      chainId,
      span: { from: positions.get(key) ?? (await startOf(deps, deposit, head, signal)), to: head },
      visit: async (range): Promise<Refunded | null> => {
        for (const leaf of await leavesIn(deps, deposit, spokePool, range, signal)) {
          if (!(await isOurs(deps, deposit, leaf, signal))) continue;
          if (await isTooEarly(deps, deposit, leaf, signal)) continue;
          const moved = await movedBy(deps, deposit, leaf, spokePool, signal);
          // Nothing was transferred: the token refused, and the SpokePool keeps the amount for a later claim.
          if (moved === 0n) continue;
          const { txHash, blockNumber } = leaf;
          const refundedBase = moved < deposit.inputAmount ? moved : deposit.inputAmount;
          return { state: "refunded", chainId, txHash, blockNumber, refundedBase, token: tokenOf(deposit) };
        }
        return null;
      },
    });
    if (found === null) {
      const next = scannedTo - tuning.reorgBlocks;
      positions.remember(key, next > deposit.originBlock ? next : deposit.originBlock);
    }
    return found;
  };

  function tokenOf({ originChainId, inputToken }: DepositRecord): Refunded["token"] {
    const address = slice(inputToken, 12);
    const token = registry
      .tokens(originChainId)
      .find((listed) => listed.address !== "native" && isAddressEqual(listed.address, address));
    if (token !== undefined) return token;
    const wrapped = registry.wrappedNative(originChainId);
    if (wrapped.address !== "native" && isAddressEqual(wrapped.address, address)) return wrapped;
    throw new DomainError("unsupported_token", `The refunded token ${address} is not configured any more.`);
  }
};
