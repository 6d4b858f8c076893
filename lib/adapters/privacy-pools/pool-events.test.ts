import { expect, test } from "vitest";
import {
  deposited,
  FAKE_CONFIRMATIONS,
  fakePoolChain,
  made,
  type Made,
} from "@/lib/dev/testing/fake-pool-chain";
import { commitmentOf, nullifierHashOf } from "./keys";
import { createWalletKeys, GAP_MAX, readNotes } from "./notes";

const SCOPE = 77n;
const MNEMONIC = "legal winner thank year wave sausage worth useful legal winner thank yellow";
const keys = createWalletKeys(MNEMONIC);

const ownDeposit = (index: number, value: bigint, label: bigint): Made[] => {
  const secrets = keys.deposit(SCOPE, index);
  return deposited(value, label, secrets.precommitment, commitmentOf(value, label, secrets));
};

test("ten thousand deposits are read once, and afterwards only what is new", async () => {
  const chain = fakePoolChain();
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
  expect(readNotes(keys, SCOPE, history).notes).toMatchObject([
    { value: 500n, label: 42n, spends: 0 },
  ]);
  const asked = chain.ranges.length;
  await chain.read();
  expect(chain.ranges).toHaveLength(asked);
  chain.add(ownDeposit(1, 7n, 43n));
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toHaveLength(2);
  expect(chain.ranges.slice(asked)).toEqual([[101, 101]]);
});

test("a note is followed through its withdrawals, and is gone when nothing is left or it left by the public exit", async () => {
  const chain = fakePoolChain();
  chain.add([...ownDeposit(0, 500n, 42n), ...ownDeposit(2, 9n, 44n)]);
  const first = keys.deposit(SCOPE, 0);
  const change = keys.change(42n, 0);
  chain.add([
    made("Withdrawn", [200n, nullifierHashOf(first), commitmentOf(300n, 42n, change)]),
  ]);
  const { notes, nextDepositIndex } = readNotes(keys, SCOPE, await chain.read());
  expect(notes).toMatchObject([
    { value: 300n, label: 42n, spends: 1, commitment: commitmentOf(300n, 42n, change) },
    { value: 9n, label: 44n, spends: 0 },
  ]);
  expect(nextDepositIndex).toBe(3);
  chain.add([
    made("Withdrawn", [300n, nullifierHashOf(change), 1n]),
    made("Ragequit", [1n, 44n, 9n]),
  ]);
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toEqual([]);
});

test("what a reorganisation took back is taken back, and the trees get another name", async () => {
  const chain = fakePoolChain();
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

test("after a reorganisation only the blocks that were not final are read again", async () => {
  const chain = fakePoolChain();
  chain.add(ownDeposit(0, 500n, 42n));
  for (let block = 0; block < 100; block += 1) chain.add([]);
  await chain.read();
  const final = 100 - FAKE_CONFIRMATIONS;
  chain.add(ownDeposit(1, 600n, 45n));
  await chain.read();
  const asked = chain.ranges.length;
  chain.setBack(1);
  chain.add([]);
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toMatchObject([
    { value: 500n, label: 42n },
  ]);
  expect(chain.ranges.slice(asked)).toEqual([[final + 1, 101]]);
});

test("numbers are given out from the last deposit that no reorganisation takes back", async () => {
  const chain = fakePoolChain();
  chain.add(ownDeposit(0, 1n, 42n));
  for (let block = 0; block < FAKE_CONFIRMATIONS; block += 1) chain.add([]);
  chain.add(ownDeposit(1, 1n, 43n));
  const fresh = readNotes(keys, SCOPE, await chain.read());
  expect(fresh).toMatchObject({ nextDepositIndex: 2, depositIndexLimit: 1 + GAP_MAX });
  for (let block = 0; block < FAKE_CONFIRMATIONS; block += 1) chain.add([]);
  const final = readNotes(keys, SCOPE, await chain.read());
  expect(final).toMatchObject({ nextDepositIndex: 2, depositIndexLimit: 2 + GAP_MAX });
});

test("a gap of failed deposits does not hide later ones, up to the SDK's own limit", async () => {
  const chain = fakePoolChain();
  chain.add([...ownDeposit(0, 1n, 42n), ...ownDeposit(GAP_MAX, 2n, 43n)]);
  expect(readNotes(keys, SCOPE, await chain.read()).notes).toHaveLength(2);
  const other = fakePoolChain();
  other.add([...ownDeposit(0, 1n, 42n), ...ownDeposit(GAP_MAX + 1, 2n, 43n)]);
  expect(readNotes(keys, SCOPE, await other.read()).notes).toHaveLength(1);
});
