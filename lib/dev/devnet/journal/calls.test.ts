import { expect, test } from "vitest";
import { kindOf, type CallKind } from "./calls";

test.each<[string, CallKind]>([
  ["eth_call", "read"],
  ["eth_getLogs", "read"],
  ["txpool_content", "read"],
  ["debug_traceTransaction", "read"],
  ["anvil_nodeInfo", "read"],
  ["evm_snapshot", "read"],
  ["eth_sendRawTransaction", "transaction"],
  ["eth_sendTransaction", "transaction"],
  ["anvil_setBalance", "state"],
  ["hardhat_setBalance", "state"],
  ["anvil_impersonateAccount", "state"],
  ["evm_mine", "mine"],
  ["anvil_mine", "mine"],
  ["hardhat_mine", "mine"],
  ["evm_increaseTime", "clock"],
  ["anvil_setNextBlockTimestamp", "clock"],
  ["evm_revert", "opaque"],
  ["anvil_reorg", "opaque"],
  ["anvil_loadState", "opaque"],
  ["evm_setAutomine", "refused"],
  ["anvil_setIntervalMining", "refused"],
  ["eth_sendRawTransactionSync", "refused"],
])("%s is of the kind %s", (method, kind) => {
  expect(kindOf(method)).toBe(kind);
});

test("a method that nobody here knows counts as one that changes the chain", () => {
  expect(kindOf("anvil_somethingNew")).toBe("opaque");
  expect(kindOf("custom_method")).toBe("opaque");
});
