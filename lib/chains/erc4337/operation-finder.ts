import type { Hex } from "viem";
import { LRUCache } from "lru-cache";
import { createBatcher } from "@/lib/core/batch";
import { agreedAnswer } from "../agreement";
import { chainCall, type ChainRegistry } from "../registry";
import {
  findEvents,
  readBundle,
  type BundleQuery,
  type OperationEvent,
  type OperationReceipt,
  type Sought,
} from "./operation-receipt";

type Operations = ReadonlyMap<Hex, OperationReceipt>;

const SOUGHT_MAX = 500;
/** Bundles whose receipts are kept; a receipt of a block never changes. */
const BUNDLES_KEPT = 50;
/** Maximum number of searches that begin per poll interval, for any number of callers. */
const SEARCHES_PER_POLL = 4;

type Find = (sought: Sought) => Promise<OperationReceipt | null>;

const finderOf = (query: BundleQuery, pollIntervalMs: number): Find => {
  const bundles = new LRUCache<string, Promise<Operations>>({ max: BUNDLES_KEPT });

  const bundleOf = ({ txHash, blockHash }: OperationEvent): Promise<Operations> => {
    const key = `${txHash}:${blockHash}`;
    const known = bundles.get(key);
    if (known !== undefined) return known;
    const read = readBundle(query, txHash).then((operations) => {
      // A reorganisation may have replaced the block between the two requests.
      const isOfBlock = [...operations.values()].some((operation) => operation.blockHash === blockHash);
      if (!isOfBlock) bundles.delete(key);
      return operations;
    });
    read.catch(() => bundles.delete(key));
    bundles.set(key, read);
    return read;
  };

  const search = async (sought: readonly Sought[]): Promise<(OperationReceipt | null)[]> => {
    const latest = await query.client.getBlockNumber({ cacheTime: 0 });
    const isRecent = ({ fromBlock }: Sought): boolean => fromBlock + query.rangeBlocks() > latest;
    // A search that goes far back needs many requests, and must not delay the others.
    const [recent, old] = await Promise.all(
      [sought.filter(isRecent), sought.filter((one) => !isRecent(one))].map((part) => findEvents(query, part, latest)),
    );
    return Promise.all(
      sought.map(async ({ userOpHash }) => {
        const event = recent?.get(userOpHash) ?? old?.get(userOpHash);
        return event === undefined ? null : ((await bundleOf(event)).get(userOpHash) ?? null);
      }),
    );
  };

  return createBatcher<Sought, OperationReceipt | null>({
    run: search,
    batchWeightMax: SOUGHT_MAX,
    everyMs: pollIntervalMs / SEARCHES_PER_POLL,
  }).submit;
};

const createFinder = (registry: ChainRegistry) => {
  const finders = new Map<number, Find>();

  const on = (chainId: number): Find => {
    const known = finders.get(chainId);
    if (known !== undefined) return known;
    const { contracts, pollIntervalMs } = registry.get(chainId);
    const rangeBlocks = (): bigint => registry.logRangeBlocks(chainId);
    const query = { client: registry.client(chainId), entryPoint: contracts.entryPoint, rangeBlocks };
    const find = finderOf(query, pollIntervalMs);
    finders.set(chainId, find);
    return find;
  };

  return (chainId: number, userOpHash: Hex, fromBlock: bigint): Promise<OperationReceipt | null> =>
    chainCall(chainId, () => on(chainId)({ userOpHash, fromBlock }));
};

/**
 * Finds mined operations for all waiting callers: those that ask about one chain at about the same time share one head
 * request, one log search, and one receipt per bundle. Each search reads the chain again, so that a reorganisation is
 * noticed. The result is null while the operation is not mined. With `isExpected` the chain's providers have to agree
 * before the result is another one (see `agreedAnswer`).
 * @throws DomainError `chain_unavailable`, `unsupported_chain`
 */
export const createOperationFinder = (registry: ChainRegistry) => {
  const find = createFinder(registry);
  const ofProvider = new Map<number, typeof find>();

  const findThrough = (view: ChainRegistry, index: number): typeof find => {
    const known = ofProvider.get(index) ?? createFinder(view);
    ofProvider.set(index, known);
    return known;
  };

  return (
    chainId: number,
    userOpHash: Hex,
    fromBlock: bigint,
    isExpected?: (receipt: OperationReceipt) => boolean,
  ): Promise<OperationReceipt | null> =>
    isExpected === undefined
      ? find(chainId, userOpHash, fromBlock)
      : agreedAnswer({
          registry,
          chainId,
          look: (view, index) => findThrough(view, index)(chainId, userOpHash, fromBlock),
          isExpected: (receipt) => receipt !== null && isExpected(receipt),
        });
};
