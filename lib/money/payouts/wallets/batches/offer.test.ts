import { expect, test } from "vitest";
import { offered } from "./offer";
import { ATTEMPTS_MAX } from "./payout-batch";
import type { Step } from "./step";

const RECEIPT = { success: false, txHash: "0xaa", blockNumber: 10n, logs: [] };

/** Offers a batch whose operation has reverted in a final block, and returns what it writes. */
const look = async (attempt: number, isPaid: boolean) => {
  const writes: [string, string?][] = [];
  const asked: unknown[] = [];
  const now = new Date(0);
  const step = {
    payout: { projectId: "prj_1", payoutId: "po_1", chainId: 1 },
    batch: {
      ...{
        payoutId: "po_1",
        number: 0,
        state: "sent",
        attempt,
        userOpHash: "0x01",
        fromBlock: 0n,
      },
      ...{ txHash: "0xaa", blockNumber: 10n, confirmations: 3, updatedAt: now },
    },
    token: { address: "0xtoken", decimals: 6 },
    account: { address: "0xtreasury" },
    offeredAt: new Map(),
    clock: { now: () => now },
    chains: {
      head: () => Promise.resolve({ number: 20n, timestamp: 0n }),
      finalNumber: () => Promise.resolve(20n),
      confirmations: () => 3,
    },
    smartAccounts: {
      receipt: () => Promise.resolve(RECEIPT),
      sponsoredGas: () => Promise.resolve(0n),
    },
    lostMoves: {
      hasPaid: (payments: unknown) => {
        asked.push(payments);
        return Promise.resolve(isPaid);
      },
    },
    repository: {
      rowsOf: () => Promise.resolve([{ index: 0, recipient: "0xada", amountBase: 5_000_000n }]),
      createdAt: () => Promise.resolve(now),
      retry: () => Promise.resolve(writes.push(["retry"])),
      fail: ({ failure }: { failure: { code: string } }) =>
        Promise.resolve(writes.push(["fail", failure.code])),
    },
  };
  await offered(step as unknown as Step);
  return { writes, asked };
};

test("after its last attempt a batch is in doubt where a lost move made one of its payments, and has failed where none did", async () => {
  const payments = [{ recipient: "0xada", amount: "5" }];
  expect(await look(ATTEMPTS_MAX, true)).toEqual({
    writes: [["fail", "source_replaced"]],
    asked: [{ projectId: "prj_1", chainId: 1, token: "0xtoken", payments }],
  });
  expect((await look(ATTEMPTS_MAX, false)).writes).toEqual([["fail", "source_reverted"]]);
});

test("before its last attempt a batch is queued again, where lost moves are looked for before the next signature", async () => {
  expect(await look(1, true)).toEqual({ writes: [["retry"]], asked: [] });
});
