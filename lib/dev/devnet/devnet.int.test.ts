import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createPublicClient, http, parseEther, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { isAlive } from "@/lib/platform/os/process.mjs";
import { entryFile } from "@/lib/dev/testing/entry";
import { devAddress } from "./accounts";
import { MULTICALL3, planDeployments } from "./contracts";
import {
  endDevnetLeftOvers,
  fundServiceAccounts,
  startDevnet,
  type Devnet,
  type DevnetOptions,
} from "./devnet";
import { createUnlockedSender } from "./sender";

const folders: string[] = [];
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-devnet-"));
  folders.push(folder);
  return folder;
};
const silent = (): void => undefined;
const WAIT = { timeout: 20_000, interval: 50 };
/** Blocks of one second each get a second of their own. */
const AHEAD_SECONDS_MAX = 5n;
const secondsNow = (): bigint => BigInt(Math.floor(Date.now() / 1000));

const running: Devnet[] = [];
const start = async (
  options: Partial<DevnetOptions> & { dataDir: string },
): Promise<Devnet> => {
  const devnet = await startDevnet({ persist: true, log: silent, ...options });
  running.push(devnet);
  return devnet;
};
const children: ChildProcess[] = [];

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map((devnet) => devnet.stop()));
});
afterAll(async () => {
  for (const dataDir of folders) {
    await endDevnetLeftOvers({ dataDir, log: silent });
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 20 });
  }
});

const childChains = z.array(
  z.object({ chainId: z.number(), rpcUrl: z.string(), pid: z.number() }),
);
type ChildChains = z.output<typeof childChains>;

/**
 * Runs the local chains in a separate process, which a test can kill. It prints each log line, then
 * the chains as JSON.
 */
const startChild = (options: { dataDir: string; persist: boolean }) => {
  const code = `
    const { startDevnet } = await import(${JSON.stringify(entryFile("devnet"))});
    setInterval(() => undefined, 1000);
    const devnet = await startDevnet({ ...${JSON.stringify(options)}, log: console.log });
    console.log(JSON.stringify(devnet.chains.map(({ chainId, rpcUrl, pid }) => ({ chainId, rpcUrl, pid }))));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const lines = createInterface(child.stdout);
  const line = (wanted: (text: string) => boolean): Promise<string> =>
    new Promise((resolve, reject) => {
      lines.on("line", (text) => {
        if (wanted(text)) resolve(text);
      });
      lines.once("close", () => reject(new Error("The process ended.")));
    });
  const ready = line((text) => text.startsWith("[")).then((text) =>
    childChains.parse(JSON.parse(text)),
  );
  ready.catch(silent);
  const kill = async (): Promise<void> => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  };
  return { line, ready, kill };
};

const clientOf = (chains: ChildChains | Devnet["chains"], index = 0) =>
  createPublicClient({
    transport: http(chains[index]?.rpcUrl, { retryCount: 0 }),
    pollingInterval: 25,
  });

/** Sends coins to a new address. */
const makeTransfer = async (
  chains: ChildChains | Devnet["chains"],
): Promise<{ to: Hex; hash: Hex; block: bigint }> => {
  const to = privateKeyToAddress(generatePrivateKey());
  const sender = createUnlockedSender(clientOf(chains), devAddress("faucet"));
  const { transactionHash, blockNumber } = await sender.send({ to, value: parseEther("1") });
  return { to, hash: transactionHash, block: blockNumber };
};

const expectTransfer = async (
  devnet: Devnet,
  transfer: { to: Hex; hash: Hex; block: bigint },
): Promise<void> => {
  const client = clientOf(devnet.chains);
  expect(await client.getBalance({ address: transfer.to })).toBe(parseEther("1"));
  expect(await client.getTransactionReceipt({ hash: transfer.hash })).toMatchObject({
    blockNumber: transfer.block,
  });
  expect(await client.getTransaction({ hash: transfer.hash })).toMatchObject({
    to: transfer.to.toLowerCase(),
  });
  const block = await client.getBlock({ blockNumber: transfer.block });
  expect(block.transactions).toContain(transfer.hash);
};

describe("a fresh start", () => {
  test("deploys every contract on all three chains, and keeps them over an orderly stop", async () => {
    const dataDir = newFolder();
    const first = await start({ dataDir });
    expect(first.fresh).toBe(true);
    expect(first.chains.map(({ chainId }) => chainId)).toEqual([31337, 31338, 31339]);
    const { deployments } = planDeployments();
    for (const index of [0, 1, 2]) {
      const client = clientOf(first.chains, index);
      const codes = await Promise.all(
        [MULTICALL3, ...deployments.map(({ address }) => address)].map((address) =>
          client.getCode({ address }),
        ),
      );
      expect(codes.every((code) => code !== undefined)).toBe(true);
    }
    const transfer = await makeTransfer(first.chains);
    const executor = privateKeyToAddress(generatePrivateKey());
    await fundServiceAccounts(first, { executor });
    await first.stop();
    const second = await start({ dataDir });
    expect(second.fresh).toBe(false);
    await expectTransfer(second, transfer);
    expect(await clientOf(second.chains, 2).getBalance({ address: executor })).toBeGreaterThan(
      0n,
    );
  });

  test("begins again from nothing when it was killed in the middle", async () => {
    const dataDir = newFolder();
    const child = startChild({ dataDir, persist: true });
    await child.line((text) => text.startsWith("Deploying"));
    await child.kill();
    const devnet = await start({ dataDir });
    expect(devnet.fresh).toBe(true);
    await makeTransfer(devnet.chains);
  });

  test("says which chain cannot have its port, and leaves nothing running", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address ? address.port : 0;
    await expect(start({ dataDir: newFolder(), ports: [0, port, 0] })).rejects.toThrow(
      `The local chain 31338 cannot use port ${String(port)}`,
    );
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("after a SIGKILL", () => {
  test("of the process its chains end with it, and go on where they were, with the right time and without left-overs", async () => {
    const dataDir = newFolder();
    const child = startChild({ dataDir, persist: true });
    const chains = await child.ready;
    const transfer = await makeTransfer(chains);
    await child.kill();
    await vi.waitFor(() => expect(chains.some(({ pid }) => isAlive(pid))).toBe(false), WAIT);
    const startedAt = secondsNow();
    const devnet = await start({ dataDir });
    expect(devnet.fresh).toBe(false);
    await expectTransfer(devnet, transfer);
    // Not behind the moment of the start, and not ahead of the clock, however long the machine
    // takes.
    await vi.waitFor(async () => {
      const { timestamp } = await clientOf(devnet.chains).getBlock();
      expect(timestamp).toBeGreaterThanOrEqual(startedAt);
      expect(timestamp).toBeLessThanOrEqual(secondsNow() + AHEAD_SECONDS_MAX);
    }, WAIT);
  });

  test("of everything at once, at the moment of the answer, nothing is lost", async () => {
    const dataDir = newFolder();
    const child = startChild({ dataDir, persist: true });
    const chains = await child.ready;
    const transfer = await makeTransfer(chains);
    for (const { pid } of chains) process.kill(pid, "SIGKILL");
    await child.kill();
    const devnet = await start({ dataDir });
    await expectTransfer(devnet, transfer);
    await makeTransfer(devnet.chains);
  });

  test("of one chain the others neither stop nor start again", async () => {
    const devnet = await start({ dataDir: newFolder() });
    const before = devnet.chains.map(({ pid }) => pid);
    const urls = devnet.chains.map(({ rpcUrl }) => rpcUrl);
    const transfer = await makeTransfer(devnet.chains);
    process.kill(before[0] ?? 0, "SIGKILL");
    await expectTransfer(devnet, transfer);
    expect(devnet.chains.map(({ pid }) => pid)).toEqual([
      expect.not.toBeOneOf(before),
      before[1],
      before[2],
    ]);
    expect(devnet.chains.map(({ rpcUrl }) => rpcUrl)).toEqual(urls);
    await makeTransfer(devnet.chains);
  });

  test("chains that are not kept end with their process", async () => {
    const child = startChild({ dataDir: newFolder(), persist: false });
    const chains = await child.ready;
    await child.kill();
    await vi.waitFor(() => expect(chains.some(({ pid }) => isAlive(pid))).toBe(false), WAIT);
  });
});

test("time goes on without transactions", async () => {
  const devnet = await start({ dataDir: newFolder(), persist: false });
  const client = clientOf(devnet.chains);
  const before = await client.getBlockNumber({ cacheTime: 0 });
  await vi.waitFor(
    async () =>
      expect(await client.getBlockNumber({ cacheTime: 0 })).toBeGreaterThan(before + 1n),
    WAIT,
  );
});
