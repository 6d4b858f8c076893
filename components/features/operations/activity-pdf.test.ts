import { expect, test } from "vitest";
import { activityPdf } from "./activity-pdf";
import type { Operation } from "./types";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

const transferTo = (address: string) =>
  ({
    operationId: `op_${address}`,
    kind: "transfer",
    status: "completed",
    createdAt: "2026-03-01T10:00:00Z",
    quoted: { from: [], to: { address } },
    actual: { received: { amount: "5", token: { symbol: "USDC" } } },
  }) as unknown as Operation;

test("the file names a recipient that has a name, with its address, and gives the whole address of any other", () => {
  const file = activityPdf({
    operations: [transferTo(ADA), transferTo(BOB)],
    annotations: new Map(),
    ofAddress: (address) => (address === ADA ? "Ada" : undefined),
    filters: { from: null, to: null },
    cut: false,
    madeAt: new Date("2026-03-02T00:00:00Z"),
  });
  expect(file).toContain("Ada 0x7099");
  expect(file).not.toContain(ADA);
  expect(file).toContain(BOB);
});
