import { expect, test } from "vitest";
import type { LegChange } from "@/lib/money/operations/leg";
import { sourceSeen } from "./source";
import type { Step } from "./step";

const HASH = "0xaa";
const PAYMASTER = "0x2222222222222222222222222222222222222222";

interface Receipt {
  readonly actualGasCost: bigint;
  readonly paymaster: string | null;
  readonly txHash?: string;
}

interface Also {
  /**
   * The newest final block. By default it follows from the three confirmations that the chain
   * needs.
   */
  readonly final?: bigint;
  /** The stored number of confirmations. */
  readonly has?: number;
  /** The receipt that the providers agree on. */
  readonly agreed?: Receipt;
}

/** Follows a leg whose source was seen in block 10, with the test's receipt and chain head. */
const look = async (
  receipt: Receipt,
  head: bigint,
  { final = head - 2n, has = 1, agreed = receipt }: Also = {},
) => {
  const changes: LegChange[] = [];
  const leg = {
    id: "leg_1",
    via: "user_operation",
    sourceChainId: 1,
    userOpHash: HASH,
    earlierUserOpHashes: [],
    fromBlock: 0n,
    sourceTxHash: HASH,
    sourceBlock: 10n,
    sourceConfirmations: has,
    spentBase: null,
    receivedBase: null,
    deposit: null,
    failure: null,
    gasCostWei: 7n,
    gasPaidBy: "wallet",
    version: 0,
  };
  const step = {
    leg,
    routeLeg: { kind: "swap" },
    submittedAt: new Map(),
    clock: { now: () => new Date(0) },
    chains: {
      head: () => Promise.resolve({ number: head, timestamp: 0n }),
      finalNumber: () => Promise.resolve(final),
      confirmations: () => 3,
    },
    smartAccounts: {
      receipt: (_: number, __: string, ___: bigint, isExpected?: unknown) => {
        const answer = isExpected === undefined ? receipt : agreed;
        return Promise.resolve({
          success: true,
          txHash: HASH,
          blockNumber: 10n,
          logs: [],
          ...answer,
        });
      },
    },
    routing: { readSource: () => ({ spentBase: null, receivedBase: null }) },
    legs: {
      touchLeg: (_: unknown, change: LegChange) => {
        changes.push(change);
        return Promise.resolve(true);
      },
      moveLeg: ({ change }: { change: LegChange }) => {
        changes.push(change);
        return Promise.resolve(true);
      },
    },
  };
  await sourceSeen(step as unknown as Step);
  return changes[0];
};

test("the fee of a source that is mined again at another price is what the final receipt says", async () => {
  const change = await look({ actualGasCost: 123n, paymaster: PAYMASTER }, 12n);
  expect(change).toMatchObject({
    sourceConfirmations: 3,
    gasPaidBy: "sponsor",
    gasCostWei: 123n,
  });
});

test("an account without a paymaster pays by itself", async () => {
  const change = await look({ actualGasCost: 5n, paymaster: null }, 11n);
  expect(change).toMatchObject({ sourceConfirmations: 2, gasPaidBy: "wallet", gasCostWei: 5n });
});

test("a source that is gone has cost nothing", async () => {
  const change = await look({ actualGasCost: 5n, paymaster: null, txHash: "0xbb" }, 12n);
  expect(change).toMatchObject({ sourceTxHash: null, gasCostWei: null, gasPaidBy: null });
});

test("a source that one look misses stays seen where the providers do not agree that it is gone", async () => {
  const fee = { actualGasCost: 5n, paymaster: null };
  expect(await look({ ...fee, txHash: "0xbb" }, 11n, { agreed: fee })).toMatchObject({
    sourceConfirmations: 2,
  });
});

test("a source is final up to the chain's final block, whatever its depth, and not before", async () => {
  const fee = { actualGasCost: 5n, paymaster: null };
  expect(await look(fee, 500n, { final: 9n })).toMatchObject({ sourceConfirmations: 2 });
  expect(await look(fee, 11n, { final: 10n })).toMatchObject({ sourceConfirmations: 3 });
});

test("an older head takes no confirmation away", async () => {
  expect(await look({ actualGasCost: 5n, paymaster: null }, 8n, { has: 2 })).toBeUndefined();
});
