import { encodeFunctionData, stringToHex } from "viem";
import { z } from "zod";
import type { ChainConfig } from "@/lib/platform/config/chains";
import { configStoreAbi, type DepositRecord, hubPoolAbi, spokePoolAbi } from "./plan";
import { askChain, type OnchainDeps, readMany } from "./chain-access";
import { blockAtTime, scanBlocks } from "./log-ranges";
import { type Leaf, originSpokePool, timeOf } from "./refund-leaves";
import { FILL_DEADLINE_SECONDS_MAX, relayHash } from "./across";

// Reads the block ranges of Across' bundles from the HubPool.

type Hub = NonNullable<NonNullable<ChainConfig["contracts"]["across"]>["hub"]> & {
  readonly chainId: number;
};

/** The blocks of one chain that a bundle settles, both ends included. */
interface BundleRange {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Returns the bundle's block range on a chain; null for a chain that the bundle does not settle.
 */
type BundleRanges = (chainId: number) => BundleRange | null;

const CHAIN_INDICES_KEY = stringToHex("CHAIN_ID_INDICES", { size: 32 });
const chainIndices = z.array(z.int());

/**
 * The hub that settles a chain's deposits; null when none is configured. Testnets have a separate
 * hub.
 */
export const hubOf = (
  { registry }: Pick<OnchainDeps, "registry">,
  chainId: number,
): Hub | null => {
  const { testnet } = registry.get(chainId);
  for (const chain of registry.list()) {
    const hub = chain.contracts.across?.hub;
    if (hub !== undefined && chain.testnet === testnet) return { ...hub, chainId: chain.id };
  }
  return null;
};

/**
 * The order of chains in `bundleEvaluationBlockNumbers`, to which chains are only appended. Null
 * when it cannot be read.
 */
const chainOrder = async (
  deps: OnchainDeps,
  hub: Hub,
  signal: AbortSignal,
): Promise<readonly number[] | null> => {
  const value = await askChain(deps, hub.chainId, signal, (client) =>
    client.readContract({
      address: hub.configStore,
      abi: configStoreAbi,
      functionName: "globalConfig",
      args: [CHAIN_INDICES_KEY],
    }),
  );
  try {
    return chainIndices.parse(JSON.parse(value));
  } catch {
    return null;
  }
};

interface Proposal {
  readonly root: `0x${string}`;
  readonly ends: readonly bigint[];
}

/**
 * The valid proposals in the blocks of `span`. A dispute or deletion invalidates the previous
 * proposal. Null when there are too many blocks.
 */
const standingProposals = async (
  deps: OnchainDeps,
  hub: Hub,
  span: { readonly from: bigint; readonly to: bigint },
  signal: AbortSignal,
): Promise<readonly Proposal[] | null> => {
  const standing: Proposal[] = [];
  const tuning = { ...deps.tuning, logRangesMax: deps.tuning.wholeSearchRangesMax };
  const { scannedTo } = await scanBlocks(
    { registry: deps.registry, tuning },
    {
      chainId: hub.chainId,
      span,
      visit: async ({ from: fromBlock, to: toBlock }) => {
        const logs = await askChain(deps, hub.chainId, signal, (client) =>
          client.getLogs({
            address: hub.hubPool,
            events: hubPoolAbi,
            fromBlock,
            toBlock,
            strict: true,
          }),
        );
        for (const { eventName, args } of logs) {
          if (eventName !== "ProposeRootBundle") standing.pop();
          else
            standing.push({
              root: args.relayerRefundRoot,
              ends: args.bundleEvaluationBlockNumbers,
            });
        }
        return null;
      },
    },
  );
  return scannedTo < span.to ? null : standing;
};

const proposalsBefore = async (
  deps: OnchainDeps,
  hub: Hub,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<readonly Proposal[] | null> => {
  const { chainId } = hub;
  const high = await askChain(deps, chainId, signal, (client) =>
    client.getBlockNumber({ cacheTime: 0 }),
  );
  const first = deposit.fillDeadline - deps.tuning.bundleLookbackSeconds;
  const last =
    (await timeOf(deps, deposit.originChainId, leaf.blockNumber, signal)) +
    deps.tuning.clockSkewSeconds;
  const from = await blockAtTime(deps, { chainId, low: 0n, high, time: first }, signal);
  const to = await blockAtTime(deps, { chainId, low: from, high, time: last }, signal);
  return standingProposals(deps, hub, { from, to }, signal);
};

/**
 * The block ranges of the bundle to which a leaf belongs. The SpokePool's refund root identifies a
 * proposal on the HubPool, which contains the last block of each chain. Each range begins after
 * the last block of the previous proposal.
 * @returns a sentence that says what is missing, when the ranges are unknown
 * @throws DomainError `chain_unavailable`
 */
export const rangesOf = async (
  deps: OnchainDeps,
  hub: Hub,
  deposit: DepositRecord,
  leaf: Leaf,
  signal: AbortSignal,
): Promise<BundleRanges | string> => {
  const [, root] = await askChain(deps, deposit.originChainId, signal, (client) =>
    client.readContract({
      address: originSpokePool(deps, deposit) ?? "0x",
      abi: spokePoolAbi,
      functionName: "rootBundles",
      args: [BigInt(leaf.rootBundleId)],
    }),
  );
  const order = await chainOrder(deps, hub, signal);
  if (order === null)
    return "The bridge's list of chains cannot be read, so its bundle is not known.";
  const proposals = await proposalsBefore(deps, hub, deposit, leaf, signal);
  const index = proposals?.findLastIndex((proposal) => proposal.root === root) ?? -1;
  const [previous, proposal] = [proposals?.[index - 1], proposals?.[index]];
  if (proposal === undefined || previous === undefined)
    return "The bridge's proposal for this payment, or the one before it, was not found.";
  return (chainId) => {
    const position = order.indexOf(chainId);
    const to = proposal.ends[position];
    return to === undefined ? null : { from: (previous.ends[position] ?? -1n) + 1n, to };
  };
};

// Finds which deposits of a depositor one bundle refunds.

const FILLED = 2n;
/** Maximum difference in seconds between the times of two chains' ranges in one bundle. */
const BUNDLE_SKEW_SECONDS = 3_600;

type Expiring = Pick<DepositRecord, "originBlock" | "fillDeadline">;

/** The time span in which deadlines expire in the bundle, in Unix seconds, both ends included. */
interface Times {
  readonly from: number;
  readonly to: number;
}

/**
 * Reads the time span of a bundle on one chain: from its first block to the second before the next
 * bundle's first block. The spans do not overlap, so each deadline belongs to one bundle.
 */
const timesOf = async (
  deps: OnchainDeps,
  chainId: number,
  { from, to }: BundleRange,
  signal: AbortSignal,
): Promise<Times> => ({
  from: await timeOf(deps, chainId, from, signal),
  to: (await timeOf(deps, chainId, to + 1n, signal)) - 1,
});

/**
 * Whether the deposit expires in the bundle. A deposit that was made before this bundle expires in
 * it when its deadline is within `times`. A deposit that was made in this bundle expires in it also
 * when its deadline is earlier.
 */
const expires = (
  { originBlock, fillDeadline }: Expiring,
  origin: BundleRange,
  times: Times,
): boolean =>
  originBlock <= origin.to &&
  fillDeadline <= times.to &&
  (originBlock >= origin.from || fillDeadline >= times.from);

/**
 * Returns a function that reads the time span of each destination once. Null for a chain that is
 * not configured or not in the bundle.
 */
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

/**
 * All deposits of the depositor in the deposit's token that may expire in the bundle. Null when
 * there are too many blocks.
 */
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

/**
 * The expired deposits that nobody filled. The result is final, because a fill after the deadline
 * is refused.
 */
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
      callData: encodeFunctionData({
        abi: spokePoolAbi,
        functionName: "fillStatuses",
        args: [relayHash(each)],
      }),
    }));
    const statuses = await readMany(deps, chainId, signal, calls);
    if (statuses.includes(null)) return null;
    open.push(...own.filter((_, index) => BigInt(statuses[index] ?? 0) !== FILLED));
  }
  return open;
};

interface RefundedTogether {
  readonly isIncluded: boolean;
  /**
   * All deposits of the depositor that the bundle refunds in the token. Empty unless `isIncluded`.
   */
  readonly deposits: readonly DepositRecord[];
}

/**
 * All deposits with the same depositor, token and origin chain that the bundle refunds: they
 * expired in it and nobody filled them.
 * @returns a sentence that says what is missing, when the deposits are unknown
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
  if (origin === null || own === null)
    return "The bridge's bundle does not name the chains of this deposit.";
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
