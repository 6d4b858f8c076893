// `npm run bench chains [--state-mb 100]`: measures the cost of the journal that records the calls
// to a local chain, and the time to restore a chain. A benchmark, not a test.
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { toHex, type Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { startBareAnvil } from "@/lib/dev/testing/bare-anvil";
import { openChainStore } from "@/lib/dev/devnet/journal/chain-store";
import { createCheckpointer } from "@/lib/dev/devnet/journal/checkpointer";
import type { GatedChain } from "@/lib/dev/devnet/journal/gated-chain";
import { startJournaledChain } from "@/lib/dev/devnet/journal/journaled-chain";
import { rpc } from "@/lib/dev/devnet/json-rpc";
import { signal } from "@/lib/platform/os/process.mjs";

const CHAIN_ID = 31337;
const ROUNDS = 6;
const PER_ROUND = 200;
const AT_ONCE = 50;
const PAYLOAD_BYTES = 6_000;
const folder = mkdtempSync(join(tmpdir(), "causeway-bench-chains-"));
const checkpointer = createCheckpointer();

const start = (): Promise<GatedChain> => {
  const store = openChainStore(folder, CHAIN_ID);
  return startJournaledChain({
    store,
    port: 0,
    checkpointer,
    log: console.log,
    onNode: () => undefined,
  });
};

/**
 * Creates an account for one chain. It signs its transactions before the measurement, so that
 * signing is not measured.
 */
const createSender = async (url: string, payload: Hex = "0x") => {
  const account = privateKeyToAccount(generatePrivateKey());
  await rpc(url, "anvil_setBalance", [account.address, toHex(10n ** 30n)]);
  let nonce = 0;
  const sign = (): Promise<Hex> =>
    account.signTransaction({
      to: account.address,
      data: payload,
      gas: 400_000n,
      maxFeePerGas: 10n ** 14n,
      nonce: nonce++,
      chainId: CHAIN_ID,
      type: "eip1559",
    });
  return {
    signed: (count: number): Promise<Hex[]> => Promise.all(Array.from({ length: count }, sign)),
    isMined: async (): Promise<boolean> =>
      Number(await rpc(url, "eth_getTransactionCount", [account.address, "latest"])) >= nonce,
  };
};
type Sender = Awaited<ReturnType<typeof createSender>>;

/**
 * Sends transactions, and waits until all are mined.
 * @returns milliseconds per transaction
 */
const send = async (
  url: string,
  sender: Sender,
  count: number,
  atOnce: number,
): Promise<number> => {
  const raws = await sender.signed(count);
  const began = performance.now();
  for (let first = 0; first < count; first += atOnce)
    await Promise.all(
      raws.slice(first, first + atOnce).map((raw) => rpc(url, "eth_sendRawTransaction", [raw])),
    );
  while (!(await sender.isMined())) await new Promise((resolve) => setTimeout(resolve, 2));
  return (performance.now() - began) / count;
};

const middleOf = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const show = (what: string, figure: string): void =>
  console.log(`${what.padEnd(64)} ${figure}`);

const compareCost = async (chain: GatedChain): Promise<void> => {
  const bare = await startBareAnvil(CHAIN_ID);
  const senders = [await createSender(bare.url), await createSender(chain.rpcUrl)] as const;
  for (const atOnce of [1, AT_ONCE]) {
    const without: number[] = [];
    const withJournal: number[] = [];
    // The two chains take turns, so that other load on the machine affects both.
    for (let round = 0; round < ROUNDS; round += 1) {
      without.push(await send(bare.url, senders[0], PER_ROUND, atOnce));
      withJournal.push(await send(chain.rpcUrl, senders[1], PER_ROUND, atOnce));
    }
    const [before, after] = [middleOf(without), middleOf(withJournal)];
    show(
      `A transaction, ${String(atOnce)} at once: bare anvil, with the journal`,
      `${ms(before)}, ${ms(after)}: ${(after / before).toFixed(2)} ×`,
    );
  }
  const read = async (url: string): Promise<number> => {
    const began = performance.now();
    for (let turn = 0; turn < PER_ROUND; turn += 1) await rpc(url, "eth_blockNumber");
    return (performance.now() - began) / PER_ROUND;
  };
  const [direct, byGate] = [await read(bare.url), await read(chain.rpcUrl)];
  show(
    "A question: bare anvil, by the gate",
    `${ms(direct)}, ${ms(byGate)}: ${(byGate / direct).toFixed(2)} ×`,
  );
  await bare.stop();
};

/**
 * Fills the chain with data, and measures meanwhile how regularly it mines blocks. Checkpoints are
 * made at the same time.
 */
const fill = async (chain: GatedChain, bytes: number): Promise<void> => {
  const sender = await createSender(chain.rpcUrl, toHex(new Uint8Array(PAYLOAD_BYTES).fill(7)));
  const gaps: number[] = [];
  const watching = { on: true };
  const watch = async (): Promise<void> => {
    let [latest, at] = [0, performance.now()];
    while (watching.on) {
      const number = Number(await rpc(chain.rpcUrl, "eth_blockNumber"));
      if (number > latest) {
        gaps.push(performance.now() - at);
        [latest, at] = [number, performance.now()];
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const watched = watch();
  // In a dump, each transaction takes about three times the size of its payload.
  const count = Math.ceil(bytes / (PAYLOAD_BYTES * 3));
  for (let sent = 0; sent < count; sent += AT_ONCE)
    await send(chain.rpcUrl, sender, AT_ONCE, AT_ONCE);
  watching.on = false;
  await watched;
  const sorted = gaps.sort((a, b) => a - b);
  const p99 = sorted[Math.floor(sorted.length * 0.99)] ?? 0;
  show(
    `Between blocks while ${String(count)} transactions come: p50, p99, max`,
    `${ms(middleOf(gaps))}, ${ms(p99)}, ${ms(sorted.at(-1) ?? 0)}`,
  );
};

const megabytes = (pattern: RegExp): string =>
  `${(
    readdirSync(folder)
      .filter((name) => pattern.test(name))
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 1e6
  ).toFixed(1)} MB`;

const timeRestoration = async (): Promise<void> => {
  const began = performance.now();
  const chain = await start();
  const startMs = performance.now() - began;
  show(
    `A start from ${megabytes(/state/)} of state and ${megabytes(/journal/)} of journal`,
    `${(startMs / 1000).toFixed(1)} s`,
  );
  signal(chain.pid, "SIGKILL");
  const killed = performance.now();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await rpc(chain.rpcUrl, "eth_blockNumber").catch(() => rpc(chain.rpcUrl, "eth_blockNumber"));
  show(
    "From the kill of its node to the next answer",
    `${((performance.now() - killed) / 1000).toFixed(1)} s`,
  );
  await chain.stop();
};

export const run = async (args: readonly string[]): Promise<void> => {
  const options = { "state-mb": { type: "string", default: "100" } } as const;
  const { values } = parseArgs({ args: [...args], options });
  let chain = await start();
  await compareCost(chain);
  await fill(chain, Number(values["state-mb"]) * 1e6);
  // Writes all data into a dump, so that the following restoration reads a state of that size.
  await chain.dumpSmall();
  await chain.stop();
  await timeRestoration();
  chain = await start();
  const tail = await createSender(chain.rpcUrl);
  for (let sent = 0; sent < 1_900; sent += AT_ONCE)
    await send(chain.rpcUrl, tail, AT_ONCE, AT_ONCE);
  await chain.stop();
  await timeRestoration();
  checkpointer.stop();
  rmSync(folder, { recursive: true, force: true });
};
