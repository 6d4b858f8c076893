import { spawn } from "node:child_process";
import {
  createTestClient,
  http,
  publicActions,
  type Hex,
  type PublicActions,
  type TestClient,
} from "viem";
import { chainConfig, type ChainConfig } from "@/lib/platform/config/chains";
import { anvilBinary } from "@/lib/dev/devnet/anvil-binary";
import { minedReceipt } from "@/lib/dev/devnet/mined-receipt";
import { freeStuckTransactions } from "./stuck-transactions";

const START_TIMEOUT_MS = 20_000;
const MINING_MS = 60_000;
const FREE_EVERY_MS = 250;
const NOWHERE = "0x0000000000000000000000000000000000000001";

export interface BareAnvil {
  readonly url: string;
  readonly config: ChainConfig;
  readonly client: TestClient & PublicActions;
  stop(): Promise<void>;
}

/** Repeatedly frees transactions that the chain forgot, until it is stopped. */
const keepFree = (url: string): (() => void) => {
  let freeing: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    // Errors are ignored, because the chain may be stopping.
    freeing ??= freeStuckTransactions(url)
      .catch(() => undefined)
      .finally(() => (freeing = null));
  }, FREE_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
};

/**
 * A separate chain without any contracts, for tests that disturb it: base fees, lost transactions,
 * reorgs.
 */
export const startBareAnvil = async (
  chainId: number,
  args: readonly string[] = [],
): Promise<BareAnvil> => {
  const child = spawn(anvilBinary(), ["--port", "0", "--chain-id", String(chainId), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  // Ends anvil when a test file fails during its start, because such a file never runs its
  // clean-up.
  process.once("exit", () => child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error("anvil did not start in time")),
      START_TIMEOUT_MS,
    );
    let output = "";
    child.once("error", reject);
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const listening = /Listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
      if (listening === undefined) return;
      clearTimeout(timer);
      resolve(`http://${listening}`);
    });
  });
  const config = chainConfig.parse({
    id: chainId,
    name: `Bare ${String(chainId)}`,
    testnet: true,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: [url],
    confirmations: 3,
    blockTimeMs: 1000,
    contracts: { multicall3: NOWHERE, entryPoint: NOWHERE, wrappedNative: NOWHERE },
    tokens: [{ symbol: "ETH", name: "Ether", address: "native", decimals: 18, assetId: "eth" }],
  });
  const stopFreeing = keepFree(url);
  return {
    url,
    config,
    // On a busy machine, a request that mines hundreds of blocks takes more than the usual 10 s.
    client: createTestClient({ mode: "anvil", transport: http(url, { timeout: MINING_MS }) })
      .extend(publicActions)
      .extend((client) => ({
        waitForTransactionReceipt: ({ hash }: { hash: Hex }) =>
          minedReceipt(client, hash, MINING_MS),
      })),
    stop: () =>
      new Promise((resolve) => {
        stopFreeing();
        child.once("exit", () => resolve());
        // A process that has ended sends no event again.
        if (child.exitCode !== null || child.signalCode !== null) resolve();
        else child.kill();
      }),
  };
};
