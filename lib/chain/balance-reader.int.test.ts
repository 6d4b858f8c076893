import { parseEther, type Address } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { expect, test, vi } from "vitest";
import { createFaucet } from "@/lib/dev/devnet/faucet";
import { testDevnet } from "@/lib/dev/testing/devnet";
import {
  balanceKey,
  createBalanceReader,
  type BalanceReader,
  type BalanceReaderOptions,
} from "./balance-reader";
import { createChainRegistry } from "./registry";

const CHAIN = 31337;
const BALANCE_OF = /70a08231/g;
const devnet = await testDevnet();
/** Bodies of the requests that were sent. */
let sent: string[] = [];
let refusesLogs = false;
const registry = createChainRegistry(devnet.chains, {
  fetchFn: (input, init) => {
    const body = typeof init?.body === "string" ? init.body : "";
    sent.push(body);
    const isRefused = refusesLogs && body.includes("eth_getLogs");
    return isRefused
      ? Promise.resolve(new Response("range is too large", { status: 413 }))
      : fetch(input, init);
  },
});
const faucet = createFaucet({ registry });
const usdc = registry.resolveToken(CHAIN, "USDC");
const weth = registry.resolveToken(CHAIN, "WETH");
const native = registry.native(CHAIN);
const tokens = registry.tokens(CHAIN);
const ERC20S = tokens.length - 1;

const newOwners = (count: number): Address[] =>
  Array.from({ length: count }, () => privateKeyToAddress(generatePrivateKey()));

const readerOf = (options: BalanceReaderOptions = {}): BalanceReader =>
  createBalanceReader(registry, { directMax: 0, ...options });

const readAll = async (reader: BalanceReader, owners: readonly Address[]) => {
  sent = [];
  const question = {
    key: "prj_1",
    chainId: CHAIN,
    owners: new Map(owners.map((owner) => [owner.toLowerCase(), owner])),
    tokens,
  };
  const { amounts, blockNumber } = await reader.read(question);
  const found = new Map(amounts);
  return {
    blockNumber,
    of: (owner: Address, token: typeof usdc) =>
      found.get(balanceKey(owner.toLowerCase(), token)) ?? 0n,
    /** Number of requested ERC-20 balances. */
    asked: sent.flatMap((body) => body.match(BALANCE_OF) ?? []).length,
    calls: sent.filter((body) => body.includes("eth_call")).length,
  };
};

const pair = (owners: readonly Address[]): [Address, Address] => {
  const [one, other] = owners;
  if (one === undefined || other === undefined) throw new Error("two wallets are needed");
  return [one, other];
};

test("after the first reading only the tokens of wallets that changed are read again, and every coin", async () => {
  const owners = newOwners(50);
  const [one, other] = pair(owners);
  const reader = readerOf();
  const first = await readAll(reader, owners);
  expect(first.asked).toBe(50 * ERC20S);
  await faucet.give(one, usdc, 7n);
  await faucet.give(other, native, parseEther("0.5"));
  const second = await readAll(reader, owners);
  expect(second.of(one, usdc)).toBe(7n);
  expect(second.of(other, native)).toBe(parseEther("0.5"));
  expect(second.asked).toBe(ERC20S);
  expect(second.blockNumber).toBeGreaterThan(first.blockNumber);
  await faucet.give(other, weth, 3n);
  const third = await readAll(reader, owners);
  expect([third.of(one, usdc), third.of(other, weth)]).toEqual([7n, 3n]);
  expect(third.asked).toBeLessThanOrEqual(2 * ERC20S);
});

test("in one block balances are read once, however often and by how many they are asked for", async () => {
  const owners = newOwners(5);
  const reader = readerOf();
  // A block may arrive between two reads, so this waits until two reads are in one block.
  await vi.waitFor(
    async () => {
      const before = await readAll(reader, owners);
      const [again] = await Promise.all([readAll(reader, owners), readAll(reader, owners)]);
      expect(again.blockNumber).toBe(before.blockNumber);
      expect(again.calls).toBe(0);
    },
    { timeout: 20_000, interval: 20 },
  );
});

test("a wallet that is new is read whole, and one that is gone is not asked for", async () => {
  const owners = newOwners(3);
  const [late] = pair(owners);
  await faucet.give(late, usdc, 9n);
  const reader = readerOf();
  await readAll(reader, owners.slice(1));
  expect((await readAll(reader, owners)).of(late, usdc)).toBe(9n);
});

test.each([
  ["a node that refuses the logs", { refuses: true, options: {} }],
  ["a reading that is too far behind", { refuses: false, options: { gapBlocksMax: 0n } }],
  ["a reading that is too old", { refuses: false, options: { fullEveryMs: 0 } }],
] as const)("%s makes everything be read again", async (_, { refuses, options }) => {
  const owners = newOwners(10);
  const [one] = pair(owners);
  const reader = readerOf(options);
  await readAll(reader, owners);
  await faucet.give(one, usdc, 7n);
  refusesLogs = refuses;
  try {
    const again = await readAll(reader, owners);
    expect(again.of(one, usdc)).toBe(7n);
    expect(again.asked).toBe(10 * ERC20S);
  } finally {
    refusesLogs = false;
  }
});
