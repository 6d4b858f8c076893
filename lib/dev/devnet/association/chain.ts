import {
  createPublicClient,
  encodeFunctionData,
  getAddress,
  parseEventLogs,
  type Address,
  type PublicClient,
} from "viem";
import { entrypointAbi, privacyPoolAbi } from "@/lib/chain/privacy-pools";
import { createKeyedQueue } from "@/lib/core/keyed-queue";
import { devAddress } from "../accounts";
import type { PrivacyContracts } from "../contracts";
import { localTransport } from "../local-transport";
import { createUnlockedSender } from "../sender";
import { createAssociationSet } from "./association-set";

/**
 * Published in place of the name of a file in IPFS. The contract requires such a name, but the
 * local provider uploads no file.
 */
const NO_FILE = "local-association-set-without-a-file-in-ipfs";
/**
 * Matches the text that is published in place of a file's name to record that later deposits of
 * the account are declined.
 */
const DECLINES = /^declines-(0x[0-9a-f]{40})$/;
/**
 * Root that is published with the first account that is declined, when no deposit is approved yet
 * and there is no other root. No proof can be made for it.
 */
const ROOT_OF_NOTHING = 1n;
export interface AssociationChain {
  /**
   * Reads new deposits, approves those whose delay has passed, and publishes the set when it
   * changed.
   */
  advance(): Promise<void>;
  /** Declines the deposits that the account makes from now on. The rule is stored on the chain. */
  decline(depositor: Address): Promise<void>;
  /**
   * The root of the approved deposits and the root on the chain. Null while no deposit is
   * approved.
   */
  roots(): Promise<{
    readonly mtRoot: string;
    readonly createdAt: string;
    readonly onchainMtRoot: string | null;
  } | null>;
  leaves(scope: bigint): Promise<{
    readonly aspLeaves: readonly string[];
    readonly stateTreeLeaves: readonly string[];
  } | null>;
  reviews(
    labels: readonly bigint[],
  ): readonly { readonly label: string; readonly reviewStatus: string }[];
}

/** Reads and publishes the roots of association sets at the entrypoint. */
const createRootRegistry = (client: PublicClient, entrypoint: Address) => {
  const sender = createUnlockedSender(client, devAddress("postman"));
  const onchainRoot = (): Promise<bigint | null> =>
    client
      .readContract({ address: entrypoint, abi: entrypointAbi, functionName: "latestRoot" })
      // The call reverts before the first set is published.
      .catch(() => null);

  const publish = (root: bigint, ipfsCid: string): Promise<unknown> => {
    const data = encodeFunctionData({
      abi: entrypointAbi,
      functionName: "updateRoot",
      args: [root, ipfsCid],
    });
    return sender.send({ to: entrypoint, data });
  };
  return { onchainRoot, publish };
};

/**
 * Maintains the association set of one local chain. The set contains all deposits in the order of
 * the logs, except those that an account made after it was declined. A restart loses nothing,
 * because the set is built again from the chain's logs. Several providers can serve one chain. A
 * provider that finds a longer published set adopts it, and publishes nothing.
 */
export const createAssociationChain = (options: {
  readonly rpcUrl: string;
  readonly privacy: PrivacyContracts;
  readonly delayMs: number;
}): AssociationChain => {
  const { privacy, delayMs } = options;
  const client = createPublicClient({ transport: localTransport(options.rpcUrl) });
  const { onchainRoot, publish } = createRootRegistry(client, privacy.entrypoint);
  const pools = Object.values(privacy.pools);
  const states = new Map<Address, bigint[]>(pools.map((pool) => [getAddress(pool), []]));
  const declinedAccounts = new Set<Address>();
  const set = createAssociationSet();
  let nextBlock = 0n;
  /**
   * True when every deposit was reviewed and the set is published. `advance` then publishes nothing
   * until a new log arrives.
   */
  let isUpToDate = false;

  const read = async (): Promise<void> => {
    const head = await client.getBlockNumber({ cacheTime: 0 });
    if (head < nextBlock) return;
    const address = [...pools, privacy.entrypoint];
    const logs = await client.getLogs({ address, fromBlock: nextBlock, toBlock: head });
    const seenAtMs = Date.now();
    const seen: Parameters<typeof set.add>[0][number][] = [];
    for (const log of parseEventLogs({ abi: [...privacyPoolAbi, ...entrypointAbi], logs })) {
      if (log.eventName === "LeafInserted")
        states.get(getAddress(log.address))?.push(log.args._leaf);
      if (log.eventName === "RootUpdated") {
        const account = DECLINES.exec(log.args._ipfsCID)?.[1];
        if (account !== undefined) declinedAccounts.add(getAddress(account));
      }
      // The entrypoint also logs deposits, but without their labels.
      if (log.eventName !== "Deposited" || !states.has(getAddress(log.address))) continue;
      const { _label: label, _depositor: depositor } = log.args;
      seen.push({ label, isDeclined: declinedAccounts.has(getAddress(depositor)), seenAtMs });
    }
    set.add(seen);
    if (logs.length > 0) isUpToDate = false;
    nextBlock = head + 1n;
  };

  const advance = async (): Promise<void> => {
    await read();
    if (isUpToDate) return;
    const published = await onchainRoot();
    const publishedSize = published === null ? 0 : set.sizeOf(published);
    // Approves the deposits that the published root covers. Another provider approved them, or this
    // provider before a restart.
    set.review(() => set.approved() >= publishedSize);
    const now = Date.now();
    set.review(({ seenAtMs }) => seenAtMs + delayMs > now);
    const root = set.approvedRoot();
    if (root !== undefined && root !== published) await publish(root, NO_FILE);
    else isUpToDate = set.waiting() === 0;
  };

  const decline = async (depositor: Address): Promise<void> => {
    const root = (await onchainRoot()) ?? ROOT_OF_NOTHING;
    await publish(root, `declines-${depositor.toLowerCase()}`);
  };

  /**
   * Runs publications one at a time. A decline publishes the latest root again, so without this
   * queue it could replace a newer root with an older one.
   */
  const publications = createKeyedQueue();
  const inTurn = (work: () => Promise<void>): Promise<void> =>
    publications.run("publication", work);

  return {
    advance: () => inTurn(advance),
    decline: (depositor) => inTurn(() => decline(depositor)),
    roots: async () => {
      const root = set.approvedRoot();
      if (root === undefined) return null;
      const published = await onchainRoot();
      return {
        mtRoot: root.toString(),
        createdAt: set.changedAt().toISOString(),
        onchainMtRoot: published?.toString() ?? null,
      };
    },
    leaves: async (scope) => {
      const scopes = await Promise.all(
        pools.map((address) =>
          client.readContract({ address, abi: privacyPoolAbi, functionName: "SCOPE" }),
        ),
      );
      const pool = pools[scopes.indexOf(scope)];
      if (pool === undefined) return null;
      const stateTreeLeaves = (states.get(getAddress(pool)) ?? []).map(String);
      return { aspLeaves: set.approvedLeaves().map(String), stateTreeLeaves };
    },
    reviews: (labels) =>
      labels.map((label) => ({ label: label.toString(), reviewStatus: set.statusOf(label) })),
  };
};
