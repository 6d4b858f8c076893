import {
  createPublicClient,
  custom,
  encodeAbiParameters,
  encodeEventTopics,
  keccak256,
  numberToHex,
  pad,
  toHex,
  type Hex,
} from "viem";
import { expect, test } from "vitest";
import { privacyPoolAbi } from "@/lib/chains/privacy-pools";
import { commitmentOf, nullifierHashOf } from "./keys";
import { createWalletKeys, GAP_MAX, readNotes } from "./notes";
import { createPoolEvents } from "./pool-events";

const POOL = "0x1111111111111111111111111111111111111111";
const OWNER = "0x2222222222222222222222222222222222222222";
const SCOPE = 77n;
const MNEMONIC = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const keys = createWalletKeys(MNEMONIC);

interface Made {
  readonly topics: readonly Hex[];
  readonly data: Hex;
}

const made = (eventName: "Deposited" | "Withdrawn" | "LeafInserted" | "Ragequit", values: readonly bigint[]): Made => {
  const account = eventName === "LeafInserted" ? [] : [pad(OWNER)];
  const [topic = "0x"] = encodeEventTopics({ abi: privacyPoolAbi, eventName } as never) as Hex[];
  return {
    topics: [topic, ...account],
    data: encodeAbiParameters(
      values.map(() => ({ type: "uint256" })),
      [...values],
    ),
  };
};

const deposited = (value: bigint, label: bigint, precommitment: bigint, commitment: bigint): Made[] => [
  made("LeafInserted", [0n, commitment, 0n]),
  made("Deposited", [commitment, label, value, precommitment]),
];

/** A chain of made-up blocks with the logs of one pool, that counts what it is asked. */
const fakeChain = () => {
  let blocks: { hash: Hex; logs: Made[] }[] = [];
  const ranges: [number, number][] = [];
  const add = (logs: Made[], salt = ""): void => {
    blocks.push({ hash: keccak256(toHex(`${String(blocks.length)}${salt}${String(Math.random())}`)), logs });
  };
  const blockOf = (number: number) => ({
    number: numberToHex(number),
    hash: blocks[number]?.hash ?? null,
    transactions: [],
    timestamp: "0x1",
  });
  const request = ({ method, params = [] }: { method: string; params?: unknown[] }): Promise<unknown> => {
    if (method === "eth_getBlockByNumber")
      return Promise.resolve(blockOf(params[0] === "latest" ? blocks.length - 1 : Number(params[0])));
    if (method !== "eth_getLogs") return Promise.reject(new Error(method));
    const { fromBlock, toBlock } = params[0] as { fromBlock: Hex; toBlock: Hex };
    const [from, to] = [Number(fromBlock), Number(toBlock)];
    ranges.push([from, to]);
    const found = blocks.slice(from, to + 1).flatMap(({ hash, logs }, offset) =>
      logs.map((log, index) => ({
        ...log,
        address: POOL,
        blockNumber: numberToHex(from + offset),
        blockHash: hash,
        transactionHash: hash,
        transactionIndex: "0x0",
        logIndex: numberToHex(index),
        removed: false,
      })),
    );
    return Promise.resolve(found);
  };
  const client = createPublicClient({ transport: custom({ request: request as never }) });
  const events = createPoolEvents({ chainId: 1, client, pools: [POOL], startBlock: 0n });
  const read = async () => {
    const history = (await events.read()).get(POOL);
    if (history === undefined) throw new Error("The pool has no history.");
    return history;
  };
  return { add, read, ranges, setBack: (depth: number) => (blocks = blocks.slice(0, blocks.length - depth)) };
};

const ownDeposit = (index: number, value: bigint, label: bigint): Made[] => {
  const secrets = keys.deposit(SCOPE, index);
  return deposited(value, label, secrets.precommitment, commitmentOf(value, label, secrets));
};

test("ten thousand deposits are read once, and afterwards only what is new", async () => {
  const chain = fakeChain();
  for (let block = 0; block < 100; block += 1)
    chain.add(
      Array.from({ length: 100 }, (_, index) => BigInt(block * 100 + index + 1)).flatMap((at) =>
        deposited(1n, at, at + 10n ** 9n, at + 10n ** 12n),
      ),
    );
  chain.add(ownDeposit(0, 500n, 42n));
  const history = await chain.read();
  expect(history.deposits.size).toBe(10_001);
  expect(history.leaves).toHaveLength(10_001);
  expect(readNotes(keys, SCOPE, history).notes).toMatchObject([{ value: 500n, label: 42n, spends: 0 }]);
  const asked = chain.ranges.length;
  await chain.read();
  expect(chain.ranges).toHaveLength(asked);
  chain.add(ownDeposit(1, 7n, 43n));
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toHaveLength(2);
  expect(chain.ranges.slice(asked)).toEqual([[101, 101]]);
});

test("a note is followed through its withdrawals, and is gone when nothing is left or it left by the public exit", async () => {
  const chain = fakeChain();
  chain.add([...ownDeposit(0, 500n, 42n), ...ownDeposit(2, 9n, 44n)]);
  const first = keys.deposit(SCOPE, 0);
  const change = keys.change(42n, 0);
  chain.add([made("Withdrawn", [200n, nullifierHashOf(first), commitmentOf(300n, 42n, change)])]);
  const { notes, nextDepositIndex } = readNotes(keys, SCOPE, await chain.read());
  expect(notes).toMatchObject([
    { value: 300n, label: 42n, spends: 1, commitment: commitmentOf(300n, 42n, change) },
    { value: 9n, label: 44n, spends: 0 },
  ]);
  expect(nextDepositIndex).toBe(3);
  chain.add([made("Withdrawn", [300n, nullifierHashOf(change), 1n]), made("Ragequit", [1n, 44n, 9n])]);
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toEqual([]);
});

test("what a reorganisation took back is taken back, and the trees get another name", async () => {
  const chain = fakeChain();
  for (let block = 0; block < 100; block += 1) chain.add([]);
  chain.add(ownDeposit(0, 500n, 42n));
  const before = await chain.read();
  expect(before.leaves).toHaveLength(1);
  chain.setBack(1);
  chain.add(ownDeposit(1, 600n, 45n), "other");
  const after = await chain.read();
  expect(after.leaves).toHaveLength(1);
  expect(after.generation).toBe(before.generation + 1);
  expect(readNotes(keys, SCOPE, after).notes).toMatchObject([{ value: 600n, label: 45n }]);
});

test("a gap of failed deposits does not hide later ones, up to the SDK's own limit", async () => {
  const chain = fakeChain();
  chain.add([...ownDeposit(0, 1n, 42n), ...ownDeposit(GAP_MAX, 2n, 43n)]);
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toHaveLength(2);
  const other = fakeChain();
  other.add([...ownDeposit(0, 1n, 42n), ...ownDeposit(GAP_MAX + 1, 2n, 43n)]);
  expect(readNotes(keys, SCOPE, await other.read()).notes).toHaveLength(1);
});
