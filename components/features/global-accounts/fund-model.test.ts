import { expect, test } from "vitest";
import { amountProblem, fundForm, missing } from "./fund-model";

const USDC = { currency: "USDC", decimals: 6 };

test("an amount to move into an account is required, and may not have more digits than its currency", () => {
  expect(amountProblem("", USDC)).toBe("Enter an amount.");
  expect(amountProblem("0.0000001", USDC)).toBe("USDC has 6 digits after the point, no more.");
  for (const wrong of ["0", "-1", "1e3", "1,5"])
    expect(amountProblem(wrong, USDC)).toMatch(/above zero/);
  expect(amountProblem(" 12.5 ", USDC)).toBeNull();
});

test("a grouped amount is read before it is checked, compared and sent", () => {
  expect(fundForm(USDC).parse({ amount: " 1,000.5 " })).toEqual({ amount: "1000.5" });
  expect(missing("1,250.5", "1000", USDC)).toBe("250.5");
  for (const wrong of ["", "0", "-1", "1e3", "0.0000001"])
    expect(fundForm(USDC).safeParse({ amount: wrong }).success).toBe(false);
});

test("an amount above the reserves is reported with exactly the missing part", () => {
  expect(missing("100.000001", "100", USDC)).toBe("0.000001");
  expect(missing("100", "100", USDC)).toBeNull();
  // The chain shows less than the accounts hold: the whole amount is missing, and the deficit too.
  expect(missing("1", "-2.5", USDC)).toBe("3.5");
  expect(missing("nonsense", "0", USDC)).toBeNull();
});
