import { LeanIMT } from "@zk-kit/lean-imt";
import { poseidon2 } from "poseidon-lite/poseidon2";
import { createPublicClient, encodeFunctionData, getAddress, http, parseEventLogs, type Address } from "viem";
import { entrypointAbi, privacyPoolAbi } from "@/lib/chains/privacy-pools";
import { devAddress } from "../accounts";
import type { PrivacyContracts } from "../contracts";
import { createUnlockedSender } from "../sender";

const TIMEOUT_MS = 5_000;
/** The contract wants the name of a file in IPFS; the local provider puts none there. */
const NO_FILE = "local-association-set-without-a-file-in-ipfs";

interface SeenDeposit {
  readonly pool: Address;
  readonly label: bigint;
  readonly depositor: Address;
  /** By this machine's clock. */
  readonly seenAtMs: number;
}

export interface AssociationChain {
  /** Reads new deposits, approves those whose time has come, and publishes the set where it changed. */
  advance(): Promise<void>;
  /** Null as long as nothing is approved. */
  roots(): Promise<{
    readonly mtRoot: string;
    readonly createdAt: string;
    readonly onchainMtRoot: string | null;
  } | null>;
  leaves(
    scope: bigint,
  ): Promise<{ readonly aspLeaves: readonly string[]; readonly stateTreeLeaves: readonly string[] } | null>;
  reviews(labels: readonly bigint[]): readonly { readonly label: string; readonly reviewStatus: string }[];
}

/** The association set of one local chain. Begun again after a restart, it approves what it finds there. */
export const createAssociationChain = (options: {
  readonly rpcUrl: string;
  readonly privacy: PrivacyContracts;
  readonly delayMs: number;
  readonly isDeclined: (depositor: Address) => boolean;
}): AssociationChain => {
  const { privacy, delayMs } = options;
  const client = createPublicClient({ transport: http(options.rpcUrl, { timeout: TIMEOUT_MS, retryCount: 0 }) });
  const sender = createUnlockedSender(client, devAddress("postman"));
  const pools = Object.values(privacy.pools);
  const tree = new LeanIMT<bigint>((left, right) => poseidon2([left, right]));
  const states = new Map<Address, bigint[]>(pools.map((pool) => [getAddress(pool), []]));
  let waiting: SeenDeposit[] = [];
  const declined = new Set<bigint>();
  let nextBlock = 0n;
  let changedAt = new Date(0);

  const onchainRoot = (): Promise<bigint | null> =>
    client
      .readContract({ address: privacy.entrypoint, abi: entrypointAbi, functionName: "latestRoot" })
      // It reverts before the first set.
      .catch(() => null);

  const read = async (): Promise<void> => {
    const head = await client.getBlockNumber({ cacheTime: 0 });
    if (head < nextBlock) return;
    const logs = await client.getLogs({ address: pools, fromBlock: nextBlock, toBlock: head });
    for (const log of parseEventLogs({ abi: privacyPoolAbi, logs })) {
      const pool = getAddress(log.address);
      if (log.eventName === "LeafInserted") states.get(pool)?.push(log.args._leaf);
      if (log.eventName !== "Deposited") continue;
      const { _label: label, _depositor: depositor } = log.args;
      waiting.push({ pool, label, depositor, seenAtMs: Date.now() });
    }
    nextBlock = head + 1n;
  };

  const review = (): void => {
    const now = Date.now();
    const due = waiting.filter(({ seenAtMs }) => seenAtMs + delayMs <= now);
    if (due.length === 0) return;
    waiting = waiting.filter((deposit) => !due.includes(deposit));
    const approved = due.filter(({ depositor }) => !options.isDeclined(depositor)).map(({ label }) => label);
    for (const { label } of due) if (!approved.includes(label)) declined.add(label);
    if (approved.length === 0) return;
    tree.insertMany(approved);
    changedAt = new Date(now);
  };

  return {
    advance: async () => {
      await read();
      review();
      if (tree.size === 0 || (await onchainRoot()) === tree.root) return;
      const data = encodeFunctionData({ abi: entrypointAbi, functionName: "updateRoot", args: [tree.root, NO_FILE] });
      await sender.sendAndWait({ to: privacy.entrypoint, data });
    },
    roots: async () => {
      if (tree.size === 0) return null;
      const mtRoot = tree.root.toString();
      return { mtRoot, createdAt: changedAt.toISOString(), onchainMtRoot: (await onchainRoot())?.toString() ?? null };
    },
    leaves: async (scope) => {
      const scopes = await Promise.all(
        pools.map((address) => client.readContract({ address, abi: privacyPoolAbi, functionName: "SCOPE" })),
      );
      const pool = pools[scopes.indexOf(scope)];
      if (pool === undefined) return null;
      const stateTreeLeaves = (states.get(getAddress(pool)) ?? []).map(String);
      return { aspLeaves: tree.leaves.map(String), stateTreeLeaves };
    },
    reviews: (labels) =>
      labels.map((label) => ({
        label: label.toString(),
        reviewStatus: declined.has(label) ? "declined" : tree.has(label) ? "approved" : "pending",
      })),
  };
};
