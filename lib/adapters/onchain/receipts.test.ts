import { encodeAbiParameters, encodeEventTopics, zeroAddress } from "viem";
import { describe, expect, test } from "vitest";
import type { EvmAddress, ReceiptLog } from "@/lib/core/evm";
import { erc20TransferAbi, wrappedNativeAbi } from "./plan";
import { sumTransfers, unwrappedBy, wrappedFor } from "./receipts";

const TOKEN: EvmAddress = "0x00000000000000000000000000000000000000aa";
const OTHER: EvmAddress = "0x00000000000000000000000000000000000000bb";
const OWNER: EvmAddress = "0x00000000000000000000000000000000000000c1";
const RECIPIENT: EvmAddress = "0x00000000000000000000000000000000000000c2";
const TAX: EvmAddress = "0x00000000000000000000000000000000000000c3";

const log = (address: EvmAddress, topics: unknown, amount: bigint): ReceiptLog => ({
  address,
  topics: topics as ReceiptLog["topics"],
  data: encodeAbiParameters([{ type: "uint256" }], [amount]),
  logIndex: 0,
});
const transfer = (
  token: EvmAddress,
  from: EvmAddress,
  to: EvmAddress,
  amount: bigint,
): ReceiptLog =>
  log(
    token,
    encodeEventTopics({ abi: erc20TransferAbi, eventName: "Transfer", args: { from, to } }),
    amount,
  );
const deposit = (dst: EvmAddress, amount: bigint): ReceiptLog =>
  log(
    TOKEN,
    encodeEventTopics({ abi: wrappedNativeAbi, eventName: "Deposit", args: { dst } }),
    amount,
  );
const withdrawal = (src: EvmAddress, amount: bigint): ReceiptLog =>
  log(
    TOKEN,
    encodeEventTopics({ abi: wrappedNativeAbi, eventName: "Withdrawal", args: { src } }),
    amount,
  );

describe("amounts are read from events", () => {
  test("a token that keeps a part of each transfer does not pass for one that delivers all", () => {
    const logs = [transfer(TOKEN, OWNER, RECIPIENT, 97n), transfer(TOKEN, OWNER, TAX, 3n)];
    expect(sumTransfers(logs, TOKEN, { from: OWNER })).toBe(100n);
    expect(sumTransfers(logs, TOKEN, { to: RECIPIENT })).toBe(97n);
  });

  test("events of other contracts and of other shape do not count", () => {
    const nft = { ...transfer(TOKEN, OWNER, RECIPIENT, 5n), data: "0x" as const };
    const logs = [transfer(OTHER, OWNER, RECIPIENT, 9n), nft, deposit(RECIPIENT, 4n)];
    expect(sumTransfers(logs, TOKEN, { to: RECIPIENT })).toBe(0n);
  });

  test("wrapping counts once, whether told by Deposit, by a Transfer from zero, or by both", () => {
    const minted = transfer(TOKEN, zeroAddress, OWNER, 7n);
    for (const logs of [[deposit(OWNER, 7n)], [minted], [deposit(OWNER, 7n), minted]]) {
      expect(wrappedFor(logs, TOKEN, [OWNER, RECIPIENT])).toBe(7n);
    }
  });

  test("unwrapping counts once, whether told by Withdrawal, by a Transfer to zero, or by both", () => {
    const burnt = transfer(TOKEN, OWNER, zeroAddress, 7n);
    for (const logs of [[withdrawal(OWNER, 7n)], [burnt], [withdrawal(OWNER, 7n), burnt]]) {
      expect(unwrappedBy(logs, TOKEN, [OWNER])).toBe(7n);
    }
  });
});
