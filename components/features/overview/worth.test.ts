import { expect, test } from "vitest";
import {
  byChain,
  chainShares,
  changeBetween,
  isEmpty,
  worthOfPart,
  worthOfShared,
} from "./worth";

const chain = (
  part: Partial<Record<"amount" | "available" | "backing" | "reserved" | "pendingIn", string>>,
  usd: string | null,
) => ({
  chainId: 1,
  amount: "0",
  amountBase: "0",
  available: "0",
  backing: "0",
  reserved: "0",
  pendingOut: "0",
  quarantined: "0",
  pendingIn: "0",
  ...part,
  usd,
});
const total = (...chains: ReturnType<typeof chain>[]) => ({
  ...(chains[0] ?? chain({}, null)),
  token: "USDC",
  assetId: "usdc",
  decimals: 6,
  chains,
  breakdown: [],
});

test("a part is worth its share of the whole", () => {
  const totals = [
    total(chain({ amount: "100", available: "25", reserved: "75" }, "99.9"), chain({}, null)),
  ];
  expect(worthOfShared({ totals }, "available")).toBe("24.975");
  expect(worthOfPart({ totals }, "reserved")).toBe("74.925");
  expect(worthOfPart({ totals }, "pendingIn")).toBe("0");
});

test("a part without a price makes the sum unknown, not smaller", () => {
  expect(
    worthOfShared(
      { totals: [total(chain({ amount: "1", available: "1" }, null))] },
      "available",
    ),
  ).toBeNull();
  // Nothing is there yet that would tell the price.
  expect(
    worthOfPart({ totals: [total(chain({ pendingIn: "1" }, "0"))] }, "pendingIn"),
  ).toBeNull();
});

test("what may be moved is that of all places together, which may be less than their sum", () => {
  const place = chain({ amount: "100", available: "60", backing: "40" }, "100");
  const totals = [
    {
      ...total(place, place),
      ...{ amount: "200", available: "60", backing: "140", usd: "200" },
    },
  ];
  expect(worthOfShared({ totals }, "available")).toBe("60");
  expect(worthOfShared({ totals }, "backing")).toBe("140");
});

test("a change has a sign, a size and a percentage of what was there before", () => {
  expect(changeBetween("1000", "1012.5")).toEqual({ sign: 1, usd: "12.5", bps: 125 });
  expect(changeBetween("8", "6")).toEqual({ sign: -1, usd: "2", bps: 2_500 });
  expect(changeBetween("0", "6")).toEqual({ sign: 1, usd: "6", bps: null });
  expect(changeBetween("6", "6").sign).toBe(0);
});

const amounts = (amount: string, pendingIn = "0") => ({
  amount,
  amountBase: amount,
  available: amount,
  backing: "0",
  reserved: "0",
  pendingOut: "0",
  quarantined: "0",
  pendingIn,
  usd: null,
});

const part = (chainId: number, amount: string) => ({
  chainId,
  walletId: "wal_1",
  address: "0x0000000000000000000000000000000000000001" as const,
  token: { symbol: "USDC", address: "native", chainId, decimals: 6, assetId: "usdc" },
  ...amounts(amount),
});

test("the sum of a chain is that of all wallets, also of those that are not listed", () => {
  const total = {
    token: "USDC",
    assetId: "usdc",
    decimals: 6,
    ...amounts("12"),
    chains: [
      { chainId: 2, ...amounts("10") },
      { chainId: 1, ...amounts("2") },
    ],
    breakdown: [part(2, "1"), part(1, "2"), part(2, "3")],
  };
  expect(
    byChain(total).map(({ chainId, amount, parts }) => [chainId, amount, parts.length]),
  ).toEqual([
    [1, "2", 1],
    [2, "10", 2],
  ]);
});

test("an asset is not empty while some of it is on its way", () => {
  expect([isEmpty(amounts("0")), isEmpty(amounts("0", "5")), isEmpty(amounts("1"))]).toEqual([
    true,
    false,
    false,
  ]);
});

test("the shares of chains add up to 100, and are nothing where there is nothing", () => {
  expect(chainShares(["1", "1", "1"], 6)).toEqual([34, 33, 33]);
  expect(chainShares(["0.000001", "0", "0"], 6)).toEqual([100, 0, 0]);
  expect(chainShares(["0", "0"], 18)).toEqual([0, 0]);
});
