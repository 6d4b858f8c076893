import { expect, test } from "vitest";
import { rowKeyOf } from "../duplicate-rows";
import { encodeRow, rowKeysOf, type NewItem } from "./rows";

const ITEMS: readonly NewItem[] = [
  {
    recipientAccountId: "ga_0198c2b4-0000-7000-8000-000000000001",
    amountBase: 10n ** 16n,
    reference: "Salary 1",
  },
  { recipientAccountId: "ga_1", amountBase: 1n, reference: null },
  {
    recipientAccountId: 'of "any" shape\\',
    amountBase: 0n,
    reference: `"Löhne", {1} \\ ' \u2028 \u0007`,
  },
];

test("a row is encoded as JSON", () => {
  for (const item of ITEMS)
    expect(encodeRow(item)).toBe(
      JSON.stringify([item.recipientAccountId, item.amountBase.toString(), item.reference]),
    );
});

test("keys that are made of encoded rows are those that are made of their fields", () => {
  for (const asset of ["usdc", 'an "asset"'])
    expect(rowKeysOf(asset, ITEMS, ITEMS.map(encodeRow))).toEqual(
      ITEMS.map(({ recipientAccountId: recipient, amountBase, reference }) =>
        rowKeyOf({ recipient, asset, amountBase, reference }),
      ),
    );
});

// Keys are stored for 30 days, so they must stay the same from version to version.
test("the key of a payment is the one that earlier versions stored", () => {
  const [item] = ITEMS;
  const items = item ? [item] : [];
  expect(rowKeysOf("usdc", items, items.map(encodeRow))).toEqual([
    "6c3d4c6e13fe3d9f0805dcb10147ed61",
  ]);
});
