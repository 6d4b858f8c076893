import fc from "fast-check";
import { expect, test } from "vitest";
import { guessSign, cellAmount } from "./amount-format";

test.each([
  [["12.5", "7"], "point"],
  [["12,5", "7"], "comma"],
  [["1,250.50"], "point"],
  [["1.250,50"], "comma"],
  [["1,250", "99.95"], "point"],
  [["1.250", "99,95"], "comma"],
  [["1,250,000"], "point"],
  [["1.250.000"], "comma"],
  [["0.125"], "point"],
  [["0,125"], "comma"],
  [["7", "12"], "point"],
  [["1 250,50"], "comma"],
  [["=1+1", "abc", ""], "point"],
] as const)("the amounts %j have a decimal %s", (cells, sign) => {
  expect(guessSign(cells)).toEqual({ sign, examples: [] });
});

test("where the amounts do not tell, or contradict each other, the person is asked", () => {
  expect(guessSign(["1,250", "7"])).toEqual({ sign: null, examples: ["1,250"] });
  expect(guessSign(["1.250"])).toEqual({ sign: null, examples: ["1.250"] });
  expect(guessSign(["12.5", "12,5"])).toEqual({ sign: null, examples: ["12.5", "12,5"] });
});

test("a number of a spreadsheet is no question and no answer", () => {
  expect(guessSign([12.345, "7"])).toEqual({ sign: "point", examples: [] });
  expect(cellAmount(12.345, "comma")).toBe("12.345");
});

test.each([
  ["1,250.50", "point", "1250.50"],
  ["1.250,50", "comma", "1250.50"],
  ["1,250", "point", "1250"],
  ["1,250", "comma", "1.250"],
  ["1 250,5", "comma", "1250.5"],
  ["1'250.5", "point", "1250.5"],
  [".5", "point", "0.5"],
  ["12", "comma", "12"],
])("%s with a decimal %s is %s", (text, sign, amount) => {
  expect(cellAmount(text, sign as "point" | "comma")).toBe(amount);
});

test.each(["=1+1", "+5", "-5", "@5", "1e3", "12,34.5", "1,25,000.5", "12.5.", "$12", "12 USDC", "1.2.3", "٣", ""])(
  "%s stays as it is",
  (text) => {
    expect(cellAmount(text, "point")).toBe(text);
  },
);

test("an amount written in either way is read as the same number", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 15n }), fc.nat({ max: 999_999 }), (whole, fraction) => {
      const digits = String(fraction).padStart(6, "0");
      const exact = `${String(whole)}.${digits}`;
      expect(cellAmount(`${whole.toLocaleString("en")}.${digits}`, "point")).toBe(exact);
      expect(cellAmount(`${whole.toLocaleString("de")},${digits}`, "comma")).toBe(exact);
    }),
  );
});
