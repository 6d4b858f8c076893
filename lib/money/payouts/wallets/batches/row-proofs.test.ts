import {
  encodeAbiParameters,
  encodeEventTopics,
  erc20Abi,
  parseAbiItem,
  type Address,
  type Hex,
} from "viem";
import { expect, test } from "vitest";
import { rowsThatDiffer } from "./row-proofs";

const TOKEN: Address = "0x1111111111111111111111111111111111111111";
const OTHER_TOKEN: Address = "0x2222222222222222222222222222222222222222";
const ACCOUNT: Address = "0x3333333333333333333333333333333333333333";
const [ANN, BEN]: readonly Address[] = [
  "0x000000000000000000000000000000000000000A",
  "0x000000000000000000000000000000000000000b",
];
const at = { token: TOKEN.toLowerCase(), account: ACCOUNT };

const value = (amountBase: bigint): Hex =>
  encodeAbiParameters([{ type: "uint256" }], [amountBase]);
const moved = (
  to: Address | undefined,
  amountBase: bigint,
  from = ACCOUNT,
  address = TOKEN,
) => ({
  address,
  topics: encodeEventTopics({
    abi: erc20Abi,
    eventName: "Transfer",
    args: { from, to: to ?? ACCOUNT },
  }) as Hex[],
  data: value(amountBase),
  logIndex: 0,
});
const row = (index: number, recipient: Address | undefined, amountBase: bigint) => ({
  index,
  recipient: recipient ?? ACCOUNT,
  amountBase,
});

test("rows with a matching event do not differ, in any order of the events", () => {
  const rows = [row(0, ANN, 5n), row(1, BEN, 7n), row(2, ANN, 9n)];
  expect(rowsThatDiffer(at, rows, [moved(ANN, 9n), moved(BEN, 7n), moved(ANN, 5n)])).toEqual(
    [],
  );
});

test("two equal rows need two events", () => {
  const rows = [row(0, ANN, 5n), row(1, ANN, 5n)];
  expect(rowsThatDiffer(at, rows, [moved(ANN, 5n)])).toEqual([
    { row: rows[1], movedBase: 0n, loggedBase: 5n },
  ]);
});

test("an event with another amount is matched to the recipient's row that has no matching event", () => {
  const rows = [row(0, ANN, 100n), row(1, ANN, 50n)];
  const differing = rowsThatDiffer(at, rows, [moved(ANN, 98n), moved(ANN, 50n)]);
  expect(differing).toEqual([{ row: rows[0], movedBase: 98n, loggedBase: 148n }]);
});

test("events of other tokens, other senders or another form are ignored", () => {
  const odd = {
    ...moved(ANN, 5n),
    topics: encodeEventTopics({
      abi: [parseAbiItem("event Transfer(address from, address to, uint256 value)")],
    }) as Hex[],
  };
  const logs = [moved(ANN, 5n, ACCOUNT, OTHER_TOKEN), moved(ANN, 5n, BEN), odd];
  const rows = [row(0, ANN, 5n)];
  expect(rowsThatDiffer(at, rows, logs)).toEqual([
    { row: rows[0], movedBase: 0n, loggedBase: 0n },
  ]);
});

test("coins have no events", () => {
  expect(rowsThatDiffer({ ...at, token: "native" }, [row(0, ANN, 5n)], [])).toEqual([]);
});
