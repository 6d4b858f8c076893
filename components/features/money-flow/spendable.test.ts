import { expect, test } from "vitest";
import { shortageOf } from "./spendable";

test("a source that asks for more than it may give is named with what is missing", () => {
  const source = { symbol: "USDC", amount: "262.25", backing: "580" };
  expect(shortageOf([{ ...source, requested: "262.25" }])).toBeNull();
  expect(shortageOf([{ ...source, requested: "263" }])).toEqual({
    symbol: "USDC",
    missing: "0.75",
    spendable: "262.25",
    backing: "580",
  });
  expect(
    shortageOf([
      { ...source, requested: null },
      { ...source, amount: null, requested: "9" },
    ]),
  ).toBeNull();
});
