import { describe, expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import type { RouteRequest } from "@/lib/core/route-request";
import { valueUsd } from "./serializer";

const OWNER = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

const token = (decimals: number): Token => ({
  symbol: "T",
  name: "T",
  chainId: 1,
  address: "native",
  decimals,
  assetId: "t",
  usdPegged: false,
});

const request = (
  ...sources: readonly (readonly [amountBase: bigint, decimals: number])[]
): RouteRequest => ({
  sources: sources.map(([amountBase, decimals]) => ({
    owner: OWNER,
    token: token(decimals),
    amountBase,
  })),
  destination: { token: token(6), recipient: OWNER },
  slippageBps: 0,
});

describe("what sources are worth", () => {
  test("is exact, whatever the decimals, and nothing is rounded away", () => {
    expect(valueUsd(request([12_500_000n, 6]), ["1"])).toBe("12.5");
    expect(valueUsd(request([10n ** 18n, 18], [1n, 6]), ["2998.512345", "1"])).toBe(
      "2998.512346",
    );
    expect(valueUsd(request([1n, 18]), ["0.000000000000000001"])).toBe(`0.${"0".repeat(35)}1`);
    expect(valueUsd(request([3n, 0]), ["0.1"])).toBe("0.3");
  });

  test("is not known when one has no price, so that it counts as above every cap", () => {
    expect(valueUsd(request([1n, 6], [1n, 6]), ["1", null])).toBeNull();
    expect(valueUsd(request([1n, 6]), [])).toBeNull();
  });
});
