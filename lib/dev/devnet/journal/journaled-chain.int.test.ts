import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createTestClient,
  http,
  numberToHex,
  parseEther,
  publicActions,
  type Address,
  type Hex,
} from "viem";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { devAddress } from "../accounts";
import { isAlive } from "@/lib/platform/os/process.mjs";
import { rpc, rpcBatch } from "../json-rpc";
import { openChainStore } from "./chain-store";
import { createCheckpointer, type Checkpointer } from "./checkpointer";
import type { GatedChain } from "./gated-chain";
import { startJournaledChain } from "./journaled-chain";

const CHAIN_ID = 31337;
const WAIT = { timeout: 60_000, interval: 50 };
const folders: string[] = [];
const open: { chain: GatedChain; checkpointer: Checkpointer }[] = [];

const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-journal-"));
  folders.push(folder);
  return folder;
};

const start = async (folder: string, stepsPerCheckpoint?: number): Promise<GatedChain> => {
  const checkpointer = createCheckpointer();
  const store = openChainStore(folder, CHAIN_ID);
  const silent = (): void => undefined;
  // The pauses between restarts are tested separately with fake timers.
  const own = { port: 0, checkpointer, log: silent, onNode: silent, restartPausesMs: [0] };
  const chain = await startJournaledChain({
    store,
    ...own,
    ...(stepsPerCheckpoint ? { stepsPerCheckpoint } : {}),
  });
  open.push({ chain, checkpointer });
  return chain;
};

const stopAll = async (): Promise<void> => {
  for (const { chain, checkpointer } of open.splice(0)) {
    checkpointer.stop();
    await chain.stop();
  }
};

afterEach(stopAll);
afterAll(() => {
  for (const folder of folders)
    rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

const clientOf = ({ rpcUrl }: GatedChain) =>
  createTestClient({
    mode: "anvil",
    transport: http(rpcUrl, { retryCount: 0, timeout: 60_000 }),
  }).extend(publicActions);

const stranger = (): Address => privateKeyToAddress(generatePrivateKey());
const kill = ({ pid }: GatedChain): void => void process.kill(pid, "SIGKILL");

/**
 * Sends a coin to each recipient, without waiting in between.
 * @returns the hashes, null for a call that got no answer
 */
const pay = (chain: GatedChain, recipients: readonly Address[]): Promise<(Hex | null)[]> =>
  Promise.all(
    recipients.map((to) =>
      rpc(chain.rpcUrl, "eth_sendTransaction", [
        { from: devAddress("faucet"), to, value: numberToHex(parseEther("1")), gas: "0x5208" },
      ]).then(
        (hash) => hash as Hex,
        () => null,
      ),
    ),
  );

/**
 * Every block from the first on. Its hash covers the block, and its state root covers all accounts.
 */
const history = async (chain: GatedChain, to: number): Promise<unknown[]> =>
  rpcBatch(
    chain.rpcUrl,
    Array.from({ length: to + 1 }, (_, number) => ({
      method: "eth_getBlockByNumber",
      params: [numberToHex(number), false],
    })),
  );

const expectPaid = async (chain: GatedChain, recipients: readonly Address[]): Promise<void> => {
  const balances = await rpcBatch(
    chain.rpcUrl,
    recipients.map((address) => ({ method: "eth_getBalance", params: [address, "latest"] })),
  );
  expect(balances).toEqual(recipients.map(() => numberToHex(parseEther("1"))));
};

const head = async (chain: GatedChain): Promise<number> =>
  Number(await rpc(chain.rpcUrl, "eth_blockNumber"));

test("a node killed under load is replaced behind the same port, and everything that was answered is there", async () => {
  const chain = await start(newFolder());
  const { rpcUrl } = chain;
  const recipients = Array.from({ length: 240 }, stranger);
  const answered: { to: Address; hash: Hex }[] = [];
  let kills = 0;
  for (let first = 0; first < recipients.length; first += 20) {
    const group = recipients.slice(first, first + 20);
    const sent = pay(chain, group);
    if (first % 60 === 40) {
      kill(chain);
      kills += 1;
    }
    (await sent).forEach((hash, index) => {
      const to = group[index];
      if (hash !== null && to !== undefined) answered.push({ to, hash });
    });
  }
  expect(kills).toBe(4);
  expect(chain.rpcUrl).toBe(rpcUrl);
  expect(answered).toHaveLength(recipients.length);
  const client = clientOf(chain);
  await vi.waitFor(
    async () => expect(await client.getTxpoolStatus()).toEqual({ pending: 0, queued: 0 }),
    WAIT,
  );
  await expectPaid(chain, recipients);
  for (const { hash } of answered.slice(-40))
    expect(await client.getTransactionReceipt({ hash })).toMatchObject({ status: "success" });
});

test("after a kill every block is the same as before: number, time, transactions, state and hash", async () => {
  const folder = newFolder();
  const first = await start(folder);
  for (let group = 0; group < 5; group += 1)
    await pay(first, Array.from({ length: 7 }, stranger));
  const number = await head(first);
  const before = await history(first, number);
  kill(first);
  expect(await history(first, number)).toEqual(before);
  await stopAll();
  const second = await start(folder);
  expect(await history(second, number)).toEqual(before);
});

test("seven deaths in a row are mended, and the chain goes on each time", async () => {
  const chain = await start(newFolder());
  const paid: Address[] = [];
  for (let death = 0; death < 7; death += 1) {
    const { pid } = chain;
    const to = stranger();
    paid.push(to);
    await pay(chain, [to]);
    kill(chain);
    await vi.waitFor(() => void expect(chain.pid).not.toBeOneOf([pid, 0]), WAIT);
  }
  await expectPaid(chain, paid);
  const [last] = await pay(chain, [stranger()]);
  expect(last).not.toBeNull();
});

test("a question that comes while there is no node waits for the next one", async () => {
  const chain = await start(newFolder());
  const { pid } = chain;
  kill(chain);
  await vi.waitFor(() => expect(isAlive(pid)).toBe(false), WAIT);
  expect(await rpc(chain.rpcUrl, "eth_chainId")).toBe(numberToHex(CHAIN_ID));
});

test("a line of the journal that a power cut tore is cut, and everything before it counts", async () => {
  const folder = newFolder();
  const first = await start(folder);
  const to = stranger();
  await pay(first, [to]);
  await stopAll();
  const journal = join(folder, `${String(CHAIN_ID)}.journal.0`);
  const { size } = statSync(journal);
  appendFileSync(journal, '12345678 {"c":[["eth_sendTransaction",[');
  const second = await start(folder);
  expect(await clientOf(second).getBalance({ address: to })).toBe(parseEther("1"));
  expect(statSync(journal).size).toBe(size);
  const [hash] = await pay(second, [stranger()]);
  expect(hash).not.toBeNull();
});

test("what tests do to a chain lasts too: balances, code, time, impersonation, blocks, and going back to a snapshot", async () => {
  const chain = await start(newFolder());
  const client = clientOf(chain);
  const [rich, poor, coded] = [stranger(), stranger(), stranger()];
  await client.setBalance({ address: rich, value: parseEther("5") });
  await client.setCode({ address: coded, bytecode: "0x6001" });
  await client.impersonateAccount({ address: rich });
  await rpc(chain.rpcUrl, "eth_sendTransaction", [{ from: rich, to: poor, value: "0x1" }]);
  const { timestamp } = await client.getBlock();
  await client.increaseTime({ seconds: 1_000 });
  await client.mine({ blocks: 3 });
  const later = await client.getBlock();
  expect(later.timestamp).toBeGreaterThanOrEqual(timestamp + 1_000n);
  const snapshot = await client.snapshot();
  await client.setBalance({ address: poor, value: parseEther("9") });
  await client.revert({ id: snapshot });
  kill(chain);
  expect(await client.getBalance({ address: poor })).toBe(1n);
  expect(await client.getCode({ address: coded })).toBe("0x6001");
  expect((await client.getBlock({ blockNumber: later.number })).hash).toBe(later.hash);
  await client.mine({ blocks: 1 });
  expect((await client.getBlock()).timestamp).toBeGreaterThanOrEqual(timestamp + 1_000n);
});

test("a reorganisation lasts over a kill", async () => {
  const chain = await start(newFolder());
  const client = clientOf(chain);
  await client.mine({ blocks: 5 });
  const to = stranger();
  const [hash] = await pay(chain, [to]);
  expect(hash).not.toBeNull();
  expect(await client.getBalance({ address: to })).toBe(parseEther("1"));
  await client.request({ method: "anvil_reorg" as never, params: [3, []] as never });
  kill(chain);
  expect(await client.getBalance({ address: to })).toBe(0n);
});

test("methods by which a node would make blocks of its own are refused", async () => {
  const chain = await start(newFolder());
  await expect(rpc(chain.rpcUrl, "evm_setIntervalMining", [1])).rejects.toThrow(
    "does not take evm_setIntervalMining",
  );
  await expect(rpc(chain.rpcUrl, "evm_setAutomine", [true])).rejects.toThrow(
    "does not take evm_setAutomine",
  );
});

test(
  "a long journal becomes a checkpoint beside the running chain, without a pause, and older segments go",
  async () => {
    const folder = newFolder();
    const chain = await start(folder, 150);
    const paid: Address[] = [];
    const { pid } = chain;
    // A transaction that waits for a lower nonce is in no state dump, so the checkpoint has to
    // store it.
    const account = privateKeyToAccount(generatePrivateKey());
    const client = clientOf(chain);
    await client.setBalance({ address: account.address, value: parseEther("5") });
    const sign = (nonce: number, to: Address): Promise<Hex> =>
      account.signTransaction({
        to,
        value: 7n,
        nonce,
        gas: 21_000n,
        maxFeePerGas: 10n ** 12n,
        chainId: CHAIN_ID,
        type: "eip1559",
      });
    const late = stranger();
    await client.sendRawTransaction({ serializedTransaction: await sign(1, late) });
    while (paid.length < 200) {
      const group = Array.from({ length: 20 }, stranger);
      await pay(chain, group);
      paid.push(...group);
    }
    const isChecked = (): boolean =>
      existsSync(join(folder, `${String(CHAIN_ID)}.checkpoint.json`));
    await vi.waitFor(() => expect(isChecked()).toBe(true), WAIT);
    expect(chain.pid).toBe(pid);
    await vi.waitFor(
      () => expect(readdirSync(folder)).not.toContain(`${String(CHAIN_ID)}.journal.0`),
      WAIT,
    );
    const number = await head(chain);
    const before = await history(chain, number);
    kill(chain);
    expect(await history(chain, number)).toEqual(before);
    await client.sendRawTransaction({ serializedTransaction: await sign(0, stranger()) });
    await vi.waitFor(
      async () => expect(await client.getBalance({ address: late })).toBe(7n),
      WAIT,
    );
    await expectPaid(chain, paid);
    expect(
      JSON.parse(readFileSync(join(folder, `${String(CHAIN_ID)}.checkpoint.json`), "utf8")),
    ).toMatchObject({
      segment: 1,
    });
  },
  2 * WAIT.timeout,
);
