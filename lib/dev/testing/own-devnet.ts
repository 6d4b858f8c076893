import { parseEther, type Address, type Hex, type PublicActions, type TestClient } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import type { Config } from "@/lib/platform/config/env";
import { deployAll } from "@/lib/dev/devnet/deploy/deploy";
import { allowMarker } from "@/lib/dev/devnet/marker";
import { startSolver, type Solver } from "@/lib/dev/devnet/solver";
import { startBareAnvil } from "./bare-anvil";
import { afterFile } from "./after-file";

const CHAIN_IDS = [31337, 31338, 31339];
/**
 * Number of states that anvil keeps, and so the maximum depth of a reorganisation in these tests.
 * Without a number anvil moves states to the disk and then does not find them.
 */
const STATES_KEPT = "128";
const ARGS = [
  "--gas-limit",
  "60000000",
  "--balance",
  "10000000",
  "--prune-history",
  STATES_KEPT,
];
const BLOCK_MS = 1_000;

export interface OwnChain {
  readonly chainId: number;
  readonly rpcUrl: string;
  readonly client: TestClient & PublicActions;
  /** Stops mining, except for transactions and `mine`, until `flow`. */
  hold(): Promise<void>;
  /** Mines a block each second, as at the start. */
  flow(): void;
  mine(blocks: number): Promise<void>;
  /**
   * Replaces the latest blocks by empty blocks. The first of the new blocks contains the given
   * transactions, in this order.
   */
  reorg(depth: number, transactions?: readonly Hex[]): Promise<void>;
}

export interface OwnDevnet {
  readonly chains: readonly OwnChain[];
  /** JSON-RPC URLs by chain id. */
  readonly rpcUrls: Readonly<Record<string, string>>;
  readonly solver: Solver;
  /** Funds the executor of a configuration, and allows it to mark operations for the paymaster. */
  serve(config: Pick<Config, "executorPrivateKey">): Promise<Address>;
}

const EXECUTOR_WEI = parseEther("1000");

const startChain = async (chainId: number, index: number): Promise<OwnChain> => {
  const anvil = await startBareAnvil(chainId, ARGS);
  await deployAll(anvil.url, index);
  const { client } = anvil;
  let isHeld = false;
  let block: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    if (isHeld) return;
    // Errors are ignored, because the chain may be stopping.
    block = client.mine({ blocks: 1 }).catch(() => undefined);
  }, BLOCK_MS);
  afterFile(async () => {
    clearInterval(timer);
    await anvil.stop();
  });
  return {
    chainId,
    rpcUrl: anvil.url,
    client,
    hold: async () => {
      isHeld = true;
      await block;
    },
    flow: () => {
      isHeld = false;
    },
    mine: (blocks) => client.mine({ blocks }),
    reorg: async (depth, transactions = []) => {
      const params = [depth, transactions.map((raw) => [raw, 0])];
      await client.request({ method: "anvil_reorg" as never, params: params as never });
    },
  };
};

/**
 * Separate local chains with all contracts and the solver for one test file, which may reset and
 * stop them. Starting the chains takes about five seconds. They are stopped after the file.
 */
export const ownDevnet = async (): Promise<OwnDevnet> => {
  const chains = await Promise.all(CHAIN_IDS.map(startChain));
  const solver = startSolver({ chains, log: () => undefined });
  afterFile(() => solver.stop());
  return {
    chains,
    rpcUrls: Object.fromEntries(chains.map((chain) => [String(chain.chainId), chain.rpcUrl])),
    solver,
    serve: async ({ executorPrivateKey }) => {
      if (executorPrivateKey === null) throw new Error("The configuration has no executor.");
      const executor = privateKeyToAddress(executorPrivateKey);
      await Promise.all(
        chains.flatMap(({ client, rpcUrl }) => [
          client.setBalance({ address: executor, value: EXECUTOR_WEI }),
          allowMarker(rpcUrl, executor),
        ]),
      );
      return executor;
    },
  };
};
