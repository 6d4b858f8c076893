import { expect, test } from "vitest";
import type { Hints } from "./hint-repository";
import { judgeOrigins } from "./judge";

const transfer = (
  amountBase: bigint,
  over: Partial<{ txHash: string; token: string; walletAddress: string }> = {},
) => ({
  ...{
    projectId: "prj_1",
    chainId: 1,
    txHash: "0x1",
    walletAddress: "0xA",
    token: "0xusdc",
    amountBase,
  },
  ...over,
});
const hint = (over: Partial<Hints> = {}): Hints => ({
  ...{ isOwnSender: false, mayBeOwn: false, explained: [], used: [] },
  ...over,
});

test("a transfer in an operation's transaction is its own up to the amount that the operation brought", () => {
  const explained = hint({ explained: [100n] });
  expect(judgeOrigins([transfer(100n)], [explained])).toEqual(["own"]);
  expect(judgeOrigins([transfer(101n)], [explained])).toEqual(["outside"]);
  expect(judgeOrigins([transfer(60n), transfer(40n)], [explained, explained])).toEqual([
    "own",
    "own",
  ]);
});

test("an amount is used up once, by the transfer that has it exactly", () => {
  const explained = hint({ explained: [100n] });
  const origins = judgeOrigins(
    [transfer(30n), transfer(100n), transfer(100n)],
    [explained, explained, explained],
  );
  expect(origins).toEqual(["outside", "own", "outside"]);
});

test("a refund in one sum for several legs is the project's own", () => {
  expect(judgeOrigins([transfer(30n)], [hint({ explained: [10n, 20n] })])).toEqual(["own"]);
});

test("another token or wallet in the same transaction is not explained", () => {
  const rows = [
    transfer(100n),
    transfer(100n, { token: "0xdai" }),
    transfer(100n, { walletAddress: "0xB" }),
  ];
  expect(judgeOrigins(rows, [hint({ explained: [100n] }), hint(), hint()])).toEqual([
    "own",
    "outside",
    "outside",
  ]);
});

test("an amount that a stored transfer used up explains no other", () => {
  expect(judgeOrigins([transfer(100n)], [hint({ explained: [100n], used: [100n] })])).toEqual([
    "outside",
  ]);
  expect(
    judgeOrigins([transfer(20n)], [hint({ explained: [100n, 20n], used: [100n] })]),
  ).toEqual(["own"]);
});

test("while a part of a transaction may belong to an operation under way, its explained parts wait with it", () => {
  const rows = [transfer(100n), transfer(7n)];
  const hints = [
    hint({ explained: [100n], mayBeOwn: true }),
    hint({ explained: [100n], mayBeOwn: true }),
  ];
  expect(judgeOrigins(rows, hints)).toEqual(["open", "open"]);
  expect(judgeOrigins([rows[0] ?? transfer(0n)], [hints[0] ?? hint()])).toEqual(["own"]);
});

test("what a wallet of the project sends is its own, and uses up nothing", () => {
  const hints = [hint({ isOwnSender: true, explained: [100n] }), hint({ explained: [100n] })];
  expect(judgeOrigins([transfer(100n), transfer(100n)], hints)).toEqual(["own", "own"]);
});
