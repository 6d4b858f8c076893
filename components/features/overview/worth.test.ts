import { expect, test } from "vitest";
import { changeBetween, worthOfPart } from "./worth";

const chain = (
  part: Partial<Record<"amount" | "available" | "reserved" | "pendingIn", string>>,
  usd: string | null,
) => ({
  chainId: 1,
  amount: "0",
  amountBase: "0",
  available: "0",
  reserved: "0",
  pendingOut: "0",
  quarantined: "0",
  pendingIn: "0",
  ...part,
  usd,
});
const total = (...chains: ReturnType<typeof chain>[]) => ({
  ...chain({}, null),
  token: "USDC",
  assetId: "usdc",
  decimals: 6,
  chains,
  breakdown: [],
});

test("a part is worth its share of the whole", () => {
  const totals = [total(chain({ amount: "100", available: "25", reserved: "75" }, "99.9"), chain({}, null))];
  expect(worthOfPart({ totals }, "available")).toBe("24.975");
  expect(worthOfPart({ totals }, "reserved")).toBe("74.925");
  expect(worthOfPart({ totals }, "pendingIn")).toBe("0");
});

test("a part without a price makes the sum unknown, not smaller", () => {
  expect(worthOfPart({ totals: [total(chain({ amount: "1", available: "1" }, null))] }, "available")).toBeNull();
  // Nothing is there yet that would tell the price.
  expect(worthOfPart({ totals: [total(chain({ pendingIn: "1" }, "0"))] }, "pendingIn")).toBeNull();
});

test("a change has a sign, a size and a percentage of what was there before", () => {
  expect(changeBetween("1000", "1012.5")).toEqual({ sign: 1, usd: "12.5", bps: 125 });
  expect(changeBetween("8", "6")).toEqual({ sign: -1, usd: "2", bps: 2_500 });
  expect(changeBetween("0", "6")).toEqual({ sign: 1, usd: "6", bps: null });
  expect(changeBetween("6", "6").sign).toBe(0);
});
