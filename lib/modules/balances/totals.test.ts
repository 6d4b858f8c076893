import fc from "fast-check";
import { expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import { formatUsd, partsOf, totalByAsset, worthMicroUsd, type Position } from "./totals";

const token = (chainId: number, decimals: number, assetId = "usdc"): Token => ({
  symbol: "USDC",
  name: "USD Coin",
  chainId,
  address: "0x0000000000000000000000000000000000000001",
  decimals,
  assetId,
  usdPegged: true,
});

const position = (chainId: number, decimals: number, amountBase: bigint, assetId?: string): Position => ({
  walletId: "wal_1",
  address: "0x0000000000000000000000000000000000000002",
  token: token(chainId, decimals, assetId),
  ...partsOf(amountBase),
});

test("totals sum an asset exactly over chains with different decimals", () => {
  const [total] = totalByAsset([position(1, 6, 1_000_001n), position(56, 18, 1n)]);
  expect(total).toMatchObject({ decimals: 18, amountBase: 1_000_001_000_000_000_001n });
});

test("totals group by asset, not by the symbol of the contract", () => {
  expect(totalByAsset([position(1, 6, 5n, "usdc"), position(1, 6, 7n, "fake-usdc")])).toHaveLength(2);
});

test("available is the balance without what is reserved and on its way out, and never below zero", () => {
  expect(partsOf(10n, { reservedBase: 3n, pendingOutBase: 2n, pendingInBase: 9n })).toMatchObject({
    availableBase: 5n,
  });
  expect(partsOf(4n, { reservedBase: 3n, pendingOutBase: 2n })).toMatchObject({ amountBase: 4n, availableBase: 0n });
});

test("totals add up every part, by asset and by chain, also where money is only on its way", () => {
  const [total] = totalByAsset([
    { ...position(1, 6, 0n), ...partsOf(10n, { reservedBase: 3n, pendingOutBase: 2n }) },
    { ...position(1, 6, 0n), ...partsOf(1n, { reservedBase: 5n }) },
    { ...position(2, 6, 0n), ...partsOf(0n, { pendingInBase: 4n }) },
    { ...position(3, 6, 0n), ...partsOf(0n) },
  ]);
  const sums = { amountBase: 11n, availableBase: 5n, reservedBase: 8n, pendingOutBase: 2n };
  expect(total).toMatchObject({ ...sums, pendingInBase: 4n });
  expect(total?.chains).toMatchObject([
    { chainId: 1, ...sums, pendingInBase: 0n },
    { chainId: 2, amountBase: 0n, availableBase: 0n, pendingInBase: 4n },
  ]);
});

test("totals do not depend on the order in which chains answer", () => {
  const positions = fc.array(
    fc.record({
      chainId: fc.integer({ min: 1, max: 3 }),
      decimals: fc.integer({ min: 0, max: 18 }),
      amount: fc.bigInt({ min: 0n, max: 10n ** 30n }),
    }),
  );
  fc.assert(
    fc.property(positions, (list) => {
      const all = list.map(({ chainId, decimals, amount }) => position(chainId, decimals, amount));
      const sums = (of: Position[]) => totalByAsset(of).map(({ amountBase, decimals }) => [amountBase, decimals]);
      expect(sums([...all].reverse())).toEqual(sums(all));
    }),
  );
});

test("worth is exact to a millionth of a dollar, and null when the price is unknown", () => {
  expect(formatUsd(worthMicroUsd(2_500_000n, 6, "3000.5"))).toBe("7501.25");
  expect(formatUsd(worthMicroUsd(1n, 18, "3000"))).toBe("0");
  expect(formatUsd(worthMicroUsd(1n, 18, null))).toBeNull();
});
