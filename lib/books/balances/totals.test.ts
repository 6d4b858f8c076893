import fc from "fast-check";
import { expect, test } from "vitest";
import type { Token } from "@/lib/core/token";
import { formatUsd, heldOf, totalByAsset, worthMicroUsd, type HeldPosition } from "./totals";

const token = (chainId: number, decimals: number, assetId = "usdc"): Token => ({
  symbol: "USDC",
  name: "USD Coin",
  chainId,
  address: "0x0000000000000000000000000000000000000001",
  decimals,
  assetId,
  usdPegged: true,
});

const position = (
  chainId: number,
  decimals: number,
  amountBase: bigint,
  assetId?: string,
): HeldPosition => ({
  walletId: "wal_1",
  address: "0x0000000000000000000000000000000000000002",
  token: token(chainId, decimals, assetId),
  ...heldOf(amountBase),
});

test("totals sum an asset exactly over chains with different decimals", () => {
  const [total] = totalByAsset([position(1, 6, 1_000_001n), position(56, 18, 1n)]);
  expect(total).toMatchObject({ decimals: 18, amountBase: 1_000_001_000_000_000_001n });
});

test("totals group by asset, not by the symbol of the contract", () => {
  expect(
    totalByAsset([position(1, 6, 5n, "usdc"), position(1, 6, 7n, "fake-usdc")]),
  ).toHaveLength(2);
});

test("free is the balance without what is reserved, in quarantine and on its way out, and never below zero", () => {
  const moving = {
    reservedBase: 3n,
    pendingOutBase: 2n,
    quarantinedBase: 1n,
    pendingInBase: 9n,
  };
  expect(heldOf(10n, moving)).toMatchObject({ freeBase: 4n });
  expect(heldOf(4n, { reservedBase: 3n, pendingOutBase: 2n })).toMatchObject({
    amountBase: 4n,
    freeBase: 0n,
  });
});

const TREASURY = "0x00000000000000000000000000000000000000aa";

const treasuryHolds = (limitBase: bigint) => ({
  assetId: "usdc",
  availableBase: limitBase,
  covers: ({ address, chainId }: { address: string; chainId: number }) =>
    address === TREASURY && chainId !== 3,
});

/**
 * The definition of available: per asset, what is on chain minus holds and debts, and in each place
 * no more than the balance there.
 */
test("what may be moved is bounded in each place by what is free there, and over all places by what accounts are owed", () => {
  const amounts = fc.bigInt({ min: 0n, max: 10n ** 12n });
  const places = fc.array(
    fc.record({
      chainId: fc.integer({ min: 1, max: 3 }),
      isTreasury: fc.boolean(),
      amountBase: amounts,
      reservedBase: amounts,
      quarantinedBase: amounts,
    }),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(places, amounts, (list, owedBase) => {
      const held = list.map(({ chainId, isTreasury, amountBase, ...moving }) => ({
        ...position(chainId, 6, amountBase),
        ...(isTreasury ? { address: TREASURY } : {}),
        ...heldOf(amountBase, moving),
      }));
      const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
      const sum = (values: readonly bigint[]): bigint =>
        values.reduce((all, one) => all + one, 0n);
      const isCovering = ({ address, token: { chainId } }: HeldPosition) =>
        address === TREASURY && chainId !== 3;
      const shown = held.filter(({ amountBase }) => amountBase > 0n);
      const covering = sum(shown.filter(isCovering).map(({ freeBase }) => freeBase));
      const other = sum(
        shown.filter((one) => !isCovering(one)).map(({ freeBase }) => freeBase),
      );
      const left = covering > owedBase ? covering - owedBase : 0n;
      // Ledger units have 18 decimals.
      const [total] = totalByAsset(held, [treasuryHolds(left * 10n ** 12n)]);
      if (total === undefined) {
        expect(shown).toEqual([]);
        return;
      }
      expect(total.availableBase).toBe(other + least(covering, left));
      for (const sums of [total, ...total.chains, ...total.positions]) {
        const moving = sums.reservedBase + sums.pendingOutBase + sums.quarantinedBase;
        // When more is held than the balance, nothing is free.
        if (
          moving <= sums.amountBase &&
          list.every((one) => one.reservedBase + one.quarantinedBase <= one.amountBase)
        )
          expect(sums.availableBase + sums.backingBase + moving).toBe(sums.amountBase);
      }
      for (const [index, place] of total.positions.entries()) {
        const free = shown[index]?.freeBase ?? 0n;
        const isCovered = shown[index] !== undefined && isCovering(shown[index]);
        expect(place.availableBase).toBe(isCovered ? least(free, left) : free);
        expect(place.backingBase).toBe(free - place.availableBase);
      }
      // Moving the available amount of one place must never use money that backs accounts.
      for (const chain of total.chains)
        expect(chain.availableBase).toBeLessThanOrEqual(total.availableBase);
    }),
  );
});

test("an asset of which no account is owed anything backs nothing", () => {
  const held = { ...position(1, 6, 10n), address: TREASURY };
  for (const backings of [[], [{ ...treasuryHolds(0n), assetId: "dai" }]])
    expect(totalByAsset([held], backings)[0]).toMatchObject({
      availableBase: 10n,
      backingBase: 0n,
    });
});

test("totals add up every part, by asset and by chain, also where money is only on its way", () => {
  const [total] = totalByAsset([
    { ...position(1, 6, 0n), ...heldOf(10n, { reservedBase: 3n, pendingOutBase: 2n }) },
    { ...position(1, 6, 0n), ...heldOf(1n, { reservedBase: 5n }) },
    { ...position(2, 6, 0n), ...heldOf(0n, { pendingInBase: 4n }) },
    { ...position(3, 6, 0n), ...heldOf(0n) },
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
      const all = list.map(({ chainId, decimals, amount }) =>
        position(chainId, decimals, amount),
      );
      const sums = (of: HeldPosition[]) =>
        totalByAsset(of).map(({ amountBase, decimals }) => [amountBase, decimals]);
      expect(sums([...all].reverse())).toEqual(sums(all));
    }),
  );
});

test("worth is exact to a millionth of a dollar, and null when the price is unknown", () => {
  expect(formatUsd(worthMicroUsd(2_500_000n, 6, "3000.5"))).toBe("7501.25");
  expect(formatUsd(worthMicroUsd(1n, 18, "3000"))).toBe("0");
  expect(formatUsd(worthMicroUsd(1n, 18, null))).toBeNull();
});
