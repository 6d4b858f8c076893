import { expect, test } from "vitest";
import { encodePayout } from "@/lib/adapters/safe-account/encoding";
import { CANONICAL_SAFE } from "@/lib/chain/chain-contracts";
import { paysAll } from "./adopt-operation";

const [ADA, BOB, DISTRIBUTOR] = [
  "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  "0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65",
] as const;
const row = (recipient: `0x${string}`, amountBase: bigint) => ({ recipient, amountBase });
const paying = (...rows: ReturnType<typeof row>[]) => ({
  callData: encodePayout({ token: "native", rows }, CANONICAL_SAFE, DISTRIBUTOR),
});

test("an operation pays a batch of coins when it sends each row its amount", () => {
  const rows = [row(ADA, 5n), row(BOB, 7n)];
  expect(paysAll(paying(...rows), rows)).toBe(true);
  expect(paysAll(paying(...rows), rows.slice(1))).toBe(true);
  expect(paysAll(paying(row(ADA, 5n)), rows)).toBe(false);
  expect(paysAll(paying(row(ADA, 5n), row(BOB, 6n)), rows)).toBe(false);
});

test("one payment does not pay two rows of a recipient", () => {
  const rows = [row(ADA, 5n), row(ADA, 5n)];
  expect(paysAll(paying(row(ADA, 5n)), rows)).toBe(false);
  expect(paysAll(paying(...rows), rows)).toBe(true);
});
