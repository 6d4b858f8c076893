import type { CoinSend } from "@/lib/chain/coin-sends";
import { expect, test } from "vitest";
import { partsOf } from "./native";
import type { DepositWallet } from "./wallet-repository";

const wallet: DepositWallet = {
  projectId: "prj_1",
  id: "wal_1",
  address: "0x00000000000000000000000000000000000A11ce",
  createdAt: new Date(0),
  mode: "block_hits",
};
const send = (amountBase: bigint, blockNumber = 5n): CoinSend => ({
  to: wallet.address,
  from: "0x00000000000000000000000000000000000000b0",
  amountBase,
  txHash: `0x${amountBase.toString(16).padStart(64, "0")}`,
  logIndex: null,
  blockNumber,
});

test.each([
  ["exactly what came", 7n, [3n, 4n], [3n, 4n], 0n],
  ["more than was sent directly: a contract sent the rest", 9n, [3n, 4n], [3n, 4n], 2n],
  ["less than was sent, because the wallet paid a fee", 6n, [3n, 4n], [3n, 3n], 0n],
  ["less than the first sender sent", 2n, [3n, 4n], [2n], 0n],
  ["nothing that was sent directly", 5n, [], [], 5n],
])("a rise of %s is split without a remainder", (_, amountBase, sent, known, rest) => {
  const parts = partsOf(
    { wallet, amountBase },
    sent.map((amount) => send(amount)),
    9n,
  );
  expect(parts.filter(({ sender }) => sender !== null).map((part) => part.amountBase)).toEqual(
    known,
  );
  expect(parts.filter(({ sender }) => sender === null).map((part) => part.amountBase)).toEqual(
    rest === 0n ? [] : [rest],
  );
  expect(parts.reduce((sum, part) => sum + part.amountBase, 0n)).toBe(amountBase);
});

test("coins of very many senders stay together from the 501st on", () => {
  const parts = partsOf(
    { wallet, amountBase: 1_000n },
    Array.from({ length: 1_000 }, () => send(1n)),
    9n,
  );
  expect(parts).toHaveLength(501);
  expect(parts.at(-1)).toMatchObject({
    sender: null,
    txHash: null,
    amountBase: 500n,
    blockNumber: 9n,
  });
});
