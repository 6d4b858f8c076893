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

/** What the file reads of an operation. */
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
