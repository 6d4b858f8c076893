import { expect, test } from "vitest";
import { mined } from "./follow";
import type { Step } from "./step";

const RECEIPT = { success: true, txHash: "0xaa", blockNumber: 10n, logs: [] };

/**
 * Follows a batch that was mined in block 10, by one look at the chain and by what its providers
 * agree on.
 */
const look = async (
  quick: typeof RECEIPT | null,
  agreed: typeof RECEIPT | null,
  { final = 0n, head = 10n } = {},
) => {
  const writes: [string, number?][] = [];
  const write =
    (name: string) =>
    ({ confirmations }: { confirmations?: number }) => {
      writes.push(confirmations === undefined ? [name] : [name, confirmations]);
      return Promise.resolve(true);
    };
  const step = {
    payout: { chainId: 1 },
    batch: {
      userOpHash: "0x01",
      fromBlock: 0n,
      txHash: "0xaa",
      blockNumber: 10n,
      confirmations: 2,
    },
    token: { address: "native" },
    offeredAt: new Map(),
    clock: { now: () => new Date(0) },
    chains: {
      head: () => Promise.resolve({ number: head, timestamp: 0n }),
      finalNumber: () => Promise.resolve(final),
      confirmations: () => 3,
    },
    smartAccounts: {
      receipt: (_: number, __: string, ___: bigint, isExpected?: unknown) =>
        Promise.resolve(isExpected === undefined ? quick : agreed),
    },
    repository: { unmine: write("unmine"), follow: write("follow"), pay: write("pay") },
  };
  await mined(step as unknown as Step);
  return writes;
};

test("a mined batch that one look misses goes back only when the providers agree that it is gone", async () => {
  expect(await look(null, RECEIPT)).toEqual([]);
  expect(await look(null, null)).toEqual([["unmine"]]);
  expect(await look({ ...RECEIPT, success: false }, RECEIPT)).toEqual([]);
});

test("a mined batch is paid once its block is final, at no depth before, and an older head takes nothing away", async () => {
  expect(await look(RECEIPT, RECEIPT, { head: 500n, final: 9n })).toEqual([]);
  expect(await look(RECEIPT, RECEIPT, { head: 8n })).toEqual([]);
  expect(await look(RECEIPT, RECEIPT, { head: 11n, final: 10n })).toEqual([["pay", 3]]);
});
