/** Which deposits of a depositor one bundle refunds. */
import { encodeFunctionData } from "viem";
import { spokePoolAbi } from "./abis";
import { FILL_DEADLINE_SECONDS_MAX, relayHash } from "./across";
import { askChain, readMany, type OnchainDeps } from "./chain-access";
import { blockAtTime, scanBlocks } from "./log-ranges";
import type { DepositRecord } from "./plan";
import type { BundleRange, BundleRanges } from "./refund-bundle";
import { originSpokePool, timeOf } from "./refund-leaves";

const FILLED = 2n;
/** By how much the ranges of two chains in one bundle may be apart. */
const BUNDLE_SKEW_SECONDS = 3_600;

type Expiring = Pick<DepositRecord, "originBlock" | "fillDeadline">;

/** Unix seconds in which deadlines expire in the bundle, both included. */
interface Times {
  readonly from: number;
  readonly to: number;
}

/** A destination's span of deadlines. The next bundle's begins in the second after it, so each deadline lies in one bundle. */
const timesOf = async (
  deps: OnchainDeps,
  chainId: number,
  { from, to }: BundleRange,
  signal: AbortSignal,
): Promise<Times> => ({
  from: await timeOf(deps, chainId, from, signal),
  to: (await timeOf(deps, chainId, to + 1n, signal)) - 1,
});

/** A deposit of an earlier bundle is refunded by the bundle in which its deadline passes; one of this bundle once it has passed. */
const expires = ({ originBlock, fillDeadline }: Expiring, origin: BundleRange, times: Times): boolean =>
  originBlock <= origin.to && fillDeadline <= times.to && (originBlock >= origin.from || fillDeadline >= times.from);

/** Reads the deadlines' spans of any number of destinations once. Null for a chain that is not configured or not in the bundle. */
const timesByChain = (deps: OnchainDeps, ranges: BundleRanges, signal: AbortSignal) => {
  const known = new Map<number, Promise<Times | null>>();
  const read = async (chainId: number): Promise<Times | null> => {
    const range = ranges(chainId);
    const isKnown = deps.registry.find(chainId)?.contracts.across !== undefined;
    return range === null || !isKnown ? null : timesOf(deps, chainId, range, signal);
  };
  return (chainId: number): Promise<Times | null> => {
    const times = known.get(chainId) ?? read(chainId);
    known.set(chainId, times);
    return times;
  };
};

/** All deposits of the depositor in the same token that may expire in the bundle; null when there are too many blocks. */
const depositsOf = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  origin: BundleRange,
  signal: AbortSignal,
): Promise<readonly DepositRecord[] | null> => {
  const { originChainId: chainId } = deposit;
  const start = await timeOf(deps, chainId, origin.from, signal);
  const time = start - FILL_DEADLINE_SECONDS_MAX - BUNDLE_SKEW_SECONDS;
  const from = await blockAtTime(deps, { chainId, low: 0n, high: origin.from, time }, signal);
  const found: DepositRecord[] = [];
  const tuning = { ...deps.tuning, logRangesMax: deps.tuning.wholeSearchRangesMax };
  const { scannedTo } = await scanBlocks(
    { registry: deps.registry, tuning },
    {
      chainId,
      span: { from, to: origin.to },
      visit: async ({ from: fromBlock, to: toBlock }) => {
        const logs = await askChain(deps, chainId, signal, (client) =>
          client.getContractEvents({
            address: originSpokePool(deps, deposit),
            abi: spokePoolAbi,
            eventName: "FundsDeposited",
            args: { depositor: deposit.depositor },
            fromBlock,
            toBlock,
            strict: true,
          }),
        );
        for (const { args, blockNumber, transactionHash: txHash } of logs) {
          if (args.inputToken !== deposit.inputToken) continue;
          const destinationChainId = Number(args.destinationChainId);
          const chains = { originChainId: chainId, destinationChainId, destinationBlock: 0n };
          found.push({ ...args, ...chains, originBlock: blockNumber, txHash });
        }
        return null;
      },
    },
  );
  return scannedTo < origin.to ? null : found;
};

/** Those of these expired deposits that nobody filled. A fill after the deadline is refused, so the answer stays the same. */
const unfilled = async (
  deps: OnchainDeps,
  expired: readonly DepositRecord[],
  signal: AbortSignal,
): Promise<readonly DepositRecord[] | null> => {
  const open: DepositRecord[] = [];
  for (const chainId of new Set(expired.map(({ destinationChainId }) => destinationChainId))) {
    const own = expired.filter(({ destinationChainId }) => destinationChainId === chainId);
    const target = deps.registry.get(chainId).contracts.across?.spokePool ?? "0x";
    const calls = own.map((each) => ({
      target,
      callData: encodeFunctionData({ abi: spokePoolAbi, functionName: "fillStatuses", args: [relayHash(each)] }),
    }));
    const statuses = await readMany(deps, chainId, signal, calls);
    if (statuses.includes(null)) return null;
    open.push(...own.filter((_, index) => BigInt(statuses[index] ?? 0) !== FILLED));
  }
  return open;
};

export interface RefundedTogether {
  /** False when this bundle does not refund the deposit. */
  readonly isIncluded: boolean;
  /** All deposits of the depositor that the bundle refunds in this token. Empty unless `isIncluded`. */
  readonly deposits: readonly DepositRecord[];
}

/**
 * All deposits of the deposit's depositor and token on its origin chain that the bundle refunds: expired in it, and filled by nobody.
 * @returns a sentence that says what is missing, when that is not known
 * @throws DomainError `chain_unavailable`
 */
export const refundedTogether = async (
  deps: OnchainDeps,
  deposit: DepositRecord,
  ranges: BundleRanges,
  signal: AbortSignal,
): Promise<RefundedTogether | string> => {
  const origin = ranges(deposit.originChainId);
  const times = timesByChain(deps, ranges, signal);
  const own = await times(deposit.destinationChainId);
  if (origin === null || own === null) return "The bridge's bundle does not name the chains of this deposit.";
  if (!expires(deposit, origin, own)) return { isIncluded: false, deposits: [] };
  const all = await depositsOf(deps, deposit, origin, signal);
  if (all === null || all.length > deps.tuning.siblingDepositsMax)
    return "The wallet has made too many deposits to compare them all with this payment.";
  const expired: DepositRecord[] = [];
  for (const each of all) {
    const span = await times(each.destinationChainId);
    if (span === null)
      return `The wallet's deposit ${each.depositId} goes to chain ${each.destinationChainId}, which is not configured, so it is not known whether this payment refunds it.`;
    if (expires(each, origin, span)) expired.push(each);
  }
  const open = await unfilled(deps, expired, signal);
  return open === null
    ? "A bridge contract does not tell how the wallet's other deposits stand."
    : { isIncluded: true, deposits: open };
};
