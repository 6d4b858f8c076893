import { expect, test } from "vitest";
import type { LegChange } from "@/lib/modules/operations/leg";
import { sourceSeen } from "./source";
import type { Step } from "./step";

const HASH = "0xaa";
const PAYMASTER = "0x2222222222222222222222222222222222222222";

interface Receipt {
  readonly actualGasCost: bigint;
  readonly paymaster: string | null;
  readonly txHash?: string;
}

/** Follows a leg whose source was seen in block 10, with this receipt and chain head. */
const look = async (receipt: Receipt, head: bigint) => {
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
    sourceConfirmations: 1,
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
    chains: { head: () => Promise.resolve({ number: head, timestamp: 0n }), confirmations: () => 3 },
    smartAccounts: {
      receipt: () => Promise.resolve({ success: true, txHash: HASH, blockNumber: 10n, logs: [], ...receipt }),
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
  expect(change).toMatchObject({ sourceConfirmations: 3, gasPaidBy: "sponsor", gasCostWei: 123n });
});

test("an account without a paymaster pays by itself", async () => {
  const change = await look({ actualGasCost: 5n, paymaster: null }, 11n);
  expect(change).toMatchObject({ sourceConfirmations: 2, gasPaidBy: "wallet", gasCostWei: 5n });
});

test("a source that is gone has cost nothing", async () => {
  const change = await look({ actualGasCost: 5n, paymaster: null, txHash: "0xbb" }, 12n);
  expect(change).toMatchObject({ sourceTxHash: null, gasCostWei: null, gasPaidBy: null });
});
