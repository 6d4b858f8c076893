import { expect, test } from "vitest";
import { activityPdf } from "./activity-pdf";
import type { Operation } from "./types";

const token = (symbol: string, decimals: number) => ({
  symbol,
  decimals,
  chainId: 1,
  address: "0x0000000000000000000000000000000000000001",
  assetId: symbol.toLowerCase(),
});
const SENT = "123456789.123456789012345678";

/** An operation with the fields that the file reads. */
const operation = {
  operationId: "op_1",
  createdAt: "2026-11-25T10:00:00.000Z",
  kind: "swap_and_transfer",
  status: "partially_completed",
  quoted: {
    from: [
      { amount: SENT, token: token("WETH", 18) },
      { amount: "20000000.000001", token: token("USDC", 6) },
    ],
    to: { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
  },
  actual: { received: { amount: "7.5", token: token("DAI", 18) } },
} as unknown as Operation;

test("each amount is whole, with its token beside it", () => {
  const file = activityPdf({
    ...{ operations: [operation], annotations: new Map(), filters: { from: null, to: null }, cut: false },
    ofAddress: () => undefined,
    madeAt: new Date("2026-11-25T12:00:00.000Z"),
  });
  const lines = [...file.matchAll(/\(((?:[^()\\]|\\.)*)\) Tj/g)].map(([, line]) => line ?? "");
  const at = lines.findIndex((line) => line.startsWith("2026-11-25 10:00"));
  const [first = "", second = "", third = ""] = lines.slice(at, at + 3);
  expect(first).toContain("Swap and transfer  Partly completed");
  expect(first).toContain(`${SENT.slice(0, 26)}  WETH  `);
  expect(first).toMatch(/ 7\.5 {2}DAI {5}0x70997970C51812dc3A010C7d01b50e0d17dc79C8 /);
  expect(second.trim()).toBe(SENT.slice(26));
  expect(third).toMatch(/^ +20000000\.000001 {2}USDC /);
});

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
