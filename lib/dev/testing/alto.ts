import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseEther, type Address } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { freePort } from "@/lib/platform/os/ports";
import type { BareAnvil } from "./bare-anvil";

const START_TIMEOUT_MS = 60_000;
const POLL_MS = 50;
const EXECUTORS = 3;

/** Whether a bundler answers at the URL, and not another JSON-RPC server. */
const answers = async (url: string): Promise<boolean> => {
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "eth_supportedEntryPoints",
    params: [],
  });
  return fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })
    .then(
      async (response) =>
        ((await response.json()) as { result?: unknown }).result !== undefined,
    )
    .catch(() => false);
};

/**
 * Starts a real ERC-4337 bundler for one chain. It runs with `--safe-mode false`, because anvil
 * lacks the tracer that safe mode needs.
 */
export const startAlto = async (
  anvil: BareAnvil,
  entryPoint: Address,
): Promise<{ url: string; stop: () => Promise<void> }> => {
  const keys = Array.from({ length: EXECUTORS + 1 }, generatePrivateKey);
  const [utility = "", ...executors] = keys;
  for (const key of keys) {
    await anvil.client.setBalance({
      address: privateKeyToAccount(key).address,
      value: parseEther("1000"),
    });
  }
  const port = String(await freePort());
  const flags = {
    entrypoints: entryPoint,
    "executor-private-keys": executors.join(","),
    "utility-private-key": utility,
    "rpc-url": anvil.url,
    port,
    "safe-mode": "false",
    "min-executor-balance": "0",
    "log-level": "fatal",
    "block-time": "200",
    "min-bundle-interval": "50",
    "max-bundle-interval": "200",
    "mempool-max-parallel-ops": "100",
    "enforce-unique-senders-per-bundle": "false",
    "simulation-call-gas-limit": "20000000",
    "binary-search-gas-allowance": "20000000",
  };
  const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn(process.execPath, [join("node_modules", ".bin", "alto"), ...args], {
    stdio: "ignore",
  });
  // Ends the bundler when a test file fails during its start, because such a file never runs its
  // clean-up.
  process.once("exit", () => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null) resolve();
      child.once("exit", () => resolve());
      // SIGKILL, because on SIGTERM the bundler would wait for its queues.
      child.kill("SIGKILL");
    });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop();
      throw new Error("alto did not start");
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  return { url, stop };
};
