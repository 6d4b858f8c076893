import { expect, test } from "vitest";
import { pruneState } from "./prune";

const hex = (value: number): string => `0x${value.toString(16)}`;

const dumpOf = (best: number) => ({
  block: { number: hex(best) },
  accounts: { "0x01": { balance: "0x5", nonce: 1 } },
  best_block_number: best,
  blocks: Array.from({ length: best + 1 }, (_, number) => ({
    header: { number: hex(number), gasUsed: "0x1" },
  })),
  transactions: Array.from({ length: best + 1 }, (_, number) => ({
    info: {
      transaction_hash: hex(number),
      traces: [{ trace: "x".repeat(1_000) }],
      gas_used: 21_000,
    },
    block_number: number,
  })),
});

test("of blocks and transactions the latest stay, without traces; accounts stay whole, and so does the first block", () => {
  const pruned: unknown = JSON.parse(pruneState(JSON.stringify(dumpOf(20)), 3));
  expect(pruned).toEqual({
    block: { number: hex(20) },
    accounts: { "0x01": { balance: "0x5", nonce: 1 } },
    best_block_number: 20,
    blocks: [0, 18, 19, 20].map((number) => ({
      header: { number: hex(number), gasUsed: "0x1" },
    })),
    transactions: [18, 19, 20].map((number) => ({
      info: { transaction_hash: hex(number), traces: [], gas_used: 21_000 },
      block_number: number,
    })),
  });
});

test("a chain that lives on has a state that does not grow with its blocks", () => {
  const sizes = [2_000, 4_000].map(
    (best) => pruneState(JSON.stringify(dumpOf(best)), 500).length,
  );
  expect(Math.abs((sizes[1] ?? 0) - (sizes[0] ?? 0))).toBeLessThan(10);
});
