import { formatAmount } from "@/lib/core/money";
import type { BridgeProgress, RefundDoubt, RefundPayment } from "@/lib/money/ports/routing";
import { depositKey, type DepositRecord, spokePoolAbi } from "./plan";
import { askChain, type OnchainDeps } from "./chain-access";
import { blockAtTime, createPositions, scanBlocks } from "./log-ranges";
import { hubOf, rangesOf, refundedTogether } from "./refund-siblings";
import {
  leavesIn,
  originSpokePool,
  paymentsOf,
  refundToken,
  timeOf,
  type Leaf,
} from "./refund-leaves";

type Refunded = Extract<BridgeProgress, { state: "refunded" }>;
type Expired = Extract<BridgeProgress, { state: "expired" }>;

/** Whether a leaf refunds the deposit. `reason` is for the person who must decide. */
type Verdict =
  | { readonly is: "ours" }
  | { readonly is: "not ours" }
  | { readonly is: "unclear"; readonly reason: string };

const NOT_OURS: Verdict = { is: "not ours" };
const unclear = (reason: string): Verdict => ({ is: "unclear", reason });

/**
 * Whether there is another deposit of the depositor whose number equals the leaf's id and whose
 * amount is exactly the leaf's.
 */
const namesAnother = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<boolean> => {
  const reach = deps.tuning.siblingDepositBlocks;
  const { found } = await scanBlocks(deps, {
    chainId: deposit.originChainId,
    span: {
      from: deposit.originBlock > reach ? deposit.originBlock - reach : 0n,
      to: leaf.blockNumber,
    },
    visit: async ({ from: fromBlock, to: toBlock }) => {
      const logs = await askChain(deps, deposit.originChainId, signal, (client) =>
        client.getContractEvents({
          address: originSpokePool(deps, deposit),
          abi: spokePoolAbi,
          eventName: "FundsDeposited",
          args: { depositor: deposit.depositor, depositId: BigInt(leaf.leafId) },
          fromBlock,
          toBlock,
          strict: true,
        }),
      );
      const isNamed = logs.some(
        ({ args }) =>
          args.inputToken === deposit.inputToken &&
          args.depositId !== deposit.depositId &&
          args.inputAmount === leaf.amount,
      );
      return isNamed ? true : null;
    },
  });
  return found ?? false;
};

/**
 * The verdict without a hub. A leaf for a single deposit is recognised only if it has the exact
 * amount and its id is not the number of another deposit.
 */
const directVerdict = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<Verdict> => {
  if (leaf.amount < deposit.inputAmount) return NOT_OURS;
  const isExact = leaf.amount === deposit.inputAmount;
  if (isExact && BigInt(leaf.leafId) === deposit.depositId) return { is: "ours" };
  if (await namesAnother(deps, deposit, leaf, signal)) return NOT_OURS;
  if (isExact) return { is: "ours" };
  return unclear(
    "It pays more than this deposit, and no HubPool is configured that tells which deposits the bridge refunds together.",
  );
};

const bundleVerdict = async (
  deps: OnchainDeps,
  hub: NonNullable<ReturnType<typeof hubOf>>,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<Verdict> => {
  const ranges = await rangesOf(deps, hub, deposit, leaf, signal);
  if (typeof ranges === "string")
    return leaf.amount < deposit.inputAmount ? NOT_OURS : unclear(ranges);
  const together = await refundedTogether(deps, deposit, ranges, signal);
  if (typeof together === "string") return unclear(together);
  const { isIncluded, deposits } = together;
  if (!isIncluded) return NOT_OURS;
  const sum = deposits.reduce((total, { inputAmount }) => total + inputAmount, 0n);
  if (sum === leaf.amount && deposits.some(({ depositId }) => depositId === deposit.depositId))
    return { is: "ours" };
  const { decimals, symbol } = refundToken(deps, deposit);
  const amount = (base: bigint): string => `${formatAmount(base, decimals)} ${symbol}`;
  return unclear(
    `The bridge's bundle refunds ${deposits.length} deposits of this wallet, of ${amount(sum)} together, but its payment is ${amount(leaf.amount)}.`,
  );
};

/**
 * Whether a leaf was executed before the fill deadline. Then it belongs to another deposit, because
 * this one could still be filled.
 */
const isTooEarly = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
) =>
  (await timeOf(deps, deposit.originChainId, leaf.blockNumber, signal)) +
    deps.tuning.clockSkewSeconds <
  deposit.fillDeadline;

const judge = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<Refunded | RefundDoubt | null> => {
  const spokePool = originSpokePool(deps, deposit);
  if (spokePool === undefined || (await isTooEarly(deps, deposit, leaf, signal))) return null;
  const hub = hubOf(deps, deposit.originChainId);
  const verdict =
    hub === null
      ? await directVerdict(deps, deposit, leaf, signal)
      : await bundleVerdict(deps, hub, deposit, leaf, signal);
  if (verdict.is === "not ours") return null;
  const [payment, ...more] = await paymentsOf(deps, deposit, leaf, spokePool, signal);
  const { txHash, blockNumber, logIndex, amount } = leaf;
  const ofLeaf: RefundPayment = {
    chainId: deposit.originChainId,
    txHash,
    blockNumber,
    logIndex,
    paidBase: amount,
  };
  if (payment === undefined)
    return {
      ...ofLeaf,
      reason:
        "The token refused the transfer. The bridge keeps the amount until it is claimed there.",
    };
  if (verdict.is === "unclear") return { ...payment, reason: verdict.reason };
  const isWhole = payment.paidBase === amount || amount === deposit.inputAmount;
  if (!isWhole || more.length > 0)
    return {
      ...payment,
      reason:
        "The transfers to the wallet do not add up to what the bridge says that it refunded.",
    };
  const refundedBase =
    payment.paidBase < deposit.inputAmount ? payment.paidBase : deposit.inputAmount;
  return { state: "refunded", ...payment, refundedBase, token: refundToken(deps, deposit) };
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
  return await blockAtTime(
    deps,
    { chainId: originChainId, low: originBlock, high: head, time },
    signal,
  );
};

/**
 * Finds the refund of an expired deposit on its origin chain.
 * Across refunds by leaves that name an address, a token and an amount, not a deposit: all deposits
 * of one address, token and chain that expire in one bundle are paid as one sum. A leaf belongs to
 * this deposit when it was executed after the deadline, really moved the tokens, and
 * 1. its bundle, according to the HubPool, refunds this deposit, and all deposits of the depositor
 * and token that the bundle refunds add up to exactly its amount, or
 * 2. when no HubPool is configured: it has the deposit's exact amount, and its id is not the number
 * of another deposit.
 * Every other leaf that may pay for the deposit is a doubt, which a person resolves.
 */
export const createRefundSearch = (deps: OnchainDeps) => {
  const { tuning } = deps;
  const positions = createPositions(tuning);
  /** For each deposit, the doubts in blocks before the position at which its search continues. */
  const doubtsBefore = new Map<string, readonly RefundDoubt[]>();

  const remember = (key: string, block: bigint, doubts: readonly RefundDoubt[]): void => {
    positions.remember(key, block);
    const kept = doubts.filter(({ blockNumber }) => blockNumber < block);
    if (kept.length > 0) doubtsBefore.set(key, kept);
    for (const known of doubtsBefore.keys())
      if (positions.get(known) === undefined) doubtsBefore.delete(known);
  };

  /**
   * Searches for the refund.
   * @throws DomainError `chain_unavailable`
   */
  return async (deposit: DepositRecord, signal: AbortSignal): Promise<Refunded | Expired> => {
    const { originChainId: chainId } = deposit;
    if (originSpokePool(deps, deposit) === undefined) return { state: "expired" };
    const head = await askChain(deps, chainId, signal, (client) =>
      client.getBlockNumber({ cacheTime: 0 }),
    );
    const key = depositKey(deposit);
    const doubts: RefundDoubt[] = [...(doubtsBefore.get(key) ?? [])];
    const { found, scannedTo } = await scanBlocks(deps, {
      chainId,
      span: {
        from: positions.get(key) ?? (await startOf(deps, deposit, head, signal)),
        to: head,
      },
      visit: async (range): Promise<Refunded | null> => {
        for (const leaf of await leavesIn(deps, deposit, range, signal)) {
          const judged = await judge(deps, deposit, leaf, signal);
          if (judged === null) continue;
          if ("state" in judged) return judged;
          doubts.push(judged);
        }
        return null;
      },
    });
    if (found !== null) return found;
    const next = scannedTo - tuning.reorgBlocks;
    remember(key, next > deposit.originBlock ? next : deposit.originBlock, doubts);
    return doubts.length === 0 ? { state: "expired" } : { state: "expired", doubts };
  };
};
