/** The block ranges of Across' bundles, as the HubPool has them. */
import { stringToHex } from "viem";
import { z } from "zod";
import type { ChainConfig } from "@/lib/config/chains";
import { configStoreAbi, hubPoolAbi, spokePoolAbi } from "./abis";
import { askChain, type OnchainDeps } from "./chain-access";
import { blockAtTime, scanBlocks } from "./log-ranges";
import type { DepositRecord } from "./plan";
import { originSpokePool, timeOf, type Leaf } from "./refund-leaves";

type Hub = NonNullable<NonNullable<ChainConfig["contracts"]["across"]>["hub"]> & { readonly chainId: number };

/** Blocks of one chain that a bundle settles, both included. */
export interface BundleRange {
  readonly from: bigint;
  readonly to: bigint;
}

/** The range of a chain; null for a chain that the bundle does not settle. */
export type BundleRanges = (chainId: number) => BundleRange | null;

const CHAIN_INDICES_KEY = stringToHex("CHAIN_ID_INDICES", { size: 32 });
const chainIndices = z.array(z.int());

/** The hub that settles a chain's deposits; null when none is configured. Testnets have a hub of their own. */
export const hubOf = ({ registry }: Pick<OnchainDeps, "registry">, chainId: number): Hub | null => {
  const { testnet } = registry.get(chainId);
  for (const chain of registry.list()) {
    const hub = chain.contracts.across?.hub;
    if (hub !== undefined && chain.testnet === testnet) return { ...hub, chainId: chain.id };
  }
  return null;
};

/** The order of chains in `bundleEvaluationBlockNumbers`. Chains are only ever appended; null when it cannot be read. */
const chainOrder = async (deps: OnchainDeps, hub: Hub, signal: AbortSignal): Promise<readonly number[] | null> => {
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

/** The proposals of these blocks that stand: a dispute or deletion removes the one before it. Null when there are too many blocks. */
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
          client.getLogs({ address: hub.hubPool, events: hubPoolAbi, fromBlock, toBlock, strict: true }),
        );
        for (const { eventName, args } of logs) {
          if (eventName !== "ProposeRootBundle") standing.pop();
          else standing.push({ root: args.relayerRefundRoot, ends: args.bundleEvaluationBlockNumbers });
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
  const high = await askChain(deps, chainId, signal, (client) => client.getBlockNumber({ cacheTime: 0 }));
  const first = deposit.fillDeadline - deps.tuning.bundleLookbackSeconds;
  const last = (await timeOf(deps, deposit.originChainId, leaf.blockNumber, signal)) + deps.tuning.clockSkewSeconds;
  const from = await blockAtTime(deps, { chainId, low: 0n, high, time: first }, signal);
  const to = await blockAtTime(deps, { chainId, low: from, high, time: last }, signal);
  return standingProposals(deps, hub, { from, to }, signal);
};

/**
 * The block ranges of the bundle that a leaf belongs to: the SpokePool's refund root is that of one proposal on the HubPool, which names
 * the last block of each chain; the proposal before it names the blocks before the first.
 * @returns a sentence that says what is missing, when the ranges are not known
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
  if (order === null) return "The bridge's list of chains cannot be read, so its bundle is not known.";
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
