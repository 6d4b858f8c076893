import fc from "fast-check";
import { expect, test } from "vitest";
import { guessSign, readAmountCell, readTypedAmount } from "./amount-format";

const amountOf = (text: string, sign: "point" | "comma"): string | null => {
  const reading = readAmountCell(text, sign);
  return "amount" in reading ? reading.amount : null;
};

test.each([
  [["12.5", "7"], "point"],
  [["12,5", "7"], "comma"],
  [["1,250.50"], "point"],
  [["1.250,50"], "comma"],
  [["1,250", "99.95"], "point"],
  [["1.250", "99,95"], "comma"],
  [["1,250,000"], "point"],
  [["1.250.000"], "comma"],
  [["1,00,000"], "point"],
  [["0.125"], "point"],
  [["0,125"], "comma"],
  [["7", "12"], "point"],
  [["1 250,50"], "comma"],
  [["1,250 USDC", "$99.95"], "point"],
  [["1,5E+3"], "comma"],
  [["=1+1", "abc", "", "12 50"], "point"],
] as const)("the amounts %j have a decimal %s", (cells, sign) => {
  expect(guessSign(cells)).toEqual({ sign, examples: [] });
});

test("where the amounts do not tell, or contradict each other, the person is asked", () => {
  expect(guessSign(["1,250", "7"])).toEqual({ sign: null, examples: ["1,250"] });
  expect(guessSign(["1.250"])).toEqual({ sign: null, examples: ["1.250"] });
  expect(guessSign(["$1,250"])).toEqual({ sign: null, examples: ["$1,250"] });
  expect(guessSign(["12.5", "12,5"])).toEqual({ sign: null, examples: ["12.5", "12,5"] });
});

test("a number of a spreadsheet is no question and no answer", () => {
  const number = { number: "12.345", units: [], cut: false };
  expect(guessSign([number, "7"])).toEqual({ sign: "point", examples: [] });
  expect(readAmountCell(number, "comma")).toEqual({ amount: "12.345", units: [] });
});

test.each([
  ["1,250.50", "point", "1250.50"],
  ["1.250,50", "comma", "1250.50"],
  ["1,250", "point", "1250"],
  ["1,250", "comma", "1.250"],
  ["1 250,5", "comma", "1250.5"],
  ["1\u202f250,5", "comma", "1250.5"],
  ["1'250.5", "point", "1250.5"],
  ["1’250’000", "point", "1250000"],
  ["1'250,50", "comma", "1250.50"],
  ["1,00,000.50", "point", "100000.50"],
  ["12,34,567", "point", "1234567"],
  [".5", "point", "0.5"],
  ["0", "point", "0"],
  ["12", "comma", "12"],
  ["1E+3", "point", "1000"],
  ["1e3", "comma", "1000"],
  ["1.5E+3", "point", "1500"],
  ["1,5e3", "comma", "1500"],
  ["1.2345E+3", "point", "1234.5"],
  ["1E-7", "point", "0.0000001"],
  ["2.5e-3", "point", "0.0025"],
  ["1E+11", "point", "100000000000"],
] as const)("%s with a decimal %s is %s", (text, sign, amount) => {
  expect(amountOf(text, sign)).toBe(amount);
});

test.each([
  ["$1,250.00", "1250.00", ["$"]],
  ["$ 1,250.00", "1250.00", ["$"]],
  ["US$5", "5", ["US$"]],
  ["USD 5", "5", ["USD"]],
  ["1250 USDC", "1250", ["USDC"]],
  ["1250USDC", "1250", ["USDC"]],
  ["1E+3 USDC", "1000", ["USDC"]],
  ["$1,250.00 USD", "1250.00", ["$", "USD"]],
  ["USDT0 5", "5", ["USDT0"]],
  ["5 USDC.e", "5", ["USDC.e"]],
  ["€5", "5", ["€"]],
  ["$.50", "0.50", ["$"]],
] as const)("%s is %s in %j", (text, amount, units) => {
  expect(readAmountCell(text, "point")).toEqual({ amount, units });
});

test.each([
  ["12 50", /marks inside a number stand only between whole groups/],
  ["12'50", /whole groups/],
  ["1 2 5 0", /whole groups/],
  ["1,25,00", /whole groups/],
  ["1,250 000", /whole groups/],
  ["12,34.5", /whole groups/],
  ["1,,250", /whole groups/],
  ["0,125,000", /whole groups/],
  ["1.2.3", /whole groups/],
  ["007", /does not begin with zeros/],
  ["00.5", /does not begin with zeros/],
  ["12,5", /its decimal sign is a comma where a point is expected/],
  ["1.23E+06", /a spreadsheet may have shortened it/],
  ["1.23457E+09", /a spreadsheet may have shortened it/],
  ["5k", /write the number with all its digits/],
  ["5 M", /write the number with all its digits/],
  ["1.25 million", /write the number with all its digits/],
  ["100 cents", /write the number with all its digits/],
  ["-5", /cannot pay a negative amount/],
  ["−5", /cannot pay a negative amount/],
  ["(5.00)", /cannot pay a negative amount/],
  ...[
    "=1+1",
    "+5",
    "@5",
    "12.5.",
    "12.",
    "5%",
    "2026-05-01",
    "٣",
    "５",
    "0x10",
    "1\t250",
    "",
    "A",
    "~5",
    "5 or 6",
  ].map((text) => [text, /write digits only/] as const),
] as const)("%j is refused with its reason, and quoted", (text, reason) => {
  const reading = readAmountCell(text, "point");
  const refusal = "refusal" in reading ? reading.refusal : "";
  // `0x10` is the amount 0 in units that no token has.
  if (text === "0x10") expect(reading).toEqual({ amount: "0", units: ["x10"] });
  else {
    expect(refusal).toMatch(reason);
    expect(refusal.startsWith(`"${text}" was not understood`)).toBe(true);
  }
});

test("a number that a spreadsheet stores with more digits than it keeps is refused", () => {
  expect(
    readAmountCell({ number: "1234567890123456789", units: [], cut: true }, "point"),
  ).toEqual({
    refusal: `"1234567890123456789" has more digits than a spreadsheet's number keeps.`,
  });
});

test("a typed cell has the form of the locale where it allows two readings", () => {
  expect(readTypedAmount("1,250", "en")).toEqual({ amount: "1250", units: [] });
  expect(readTypedAmount("1,250", "de")).toEqual({ amount: "1.250", units: [] });
  expect(readTypedAmount("1,25 USDC", "en")).toEqual({ amount: "1.25", units: ["USDC"] });
  expect("refusal" in readTypedAmount("12 50", "de")).toBe(true);
});

/**
 * The ways in which people write an amount with this decimal sign: the only texts that may be read
 * as it.
 */
const writings = (
  whole: string,
  fraction: string,
  sign: "point" | "comma",
): ReadonlySet<string> => {
  const grouped = (size: RegExp, mark: string): string => whole.replace(size, mark);
  const threes = (mark: string): string => grouped(/\B(?=(\d{3})+(?!\d))/g, mark);
  const marks = [
    sign === "point" ? "," : ".",
    " ",
    "\u00a0",
    "\u202f",
    "\u2009",
    "\u2007",
    "'",
    "’",
  ];
  const wholes = [whole, ...marks.map(threes)];
  if (sign === "point") wholes.push(grouped(/\B(?=(\d{2})*\d{3}(?!\d))/g, ","));
  if (whole === "0" && fraction !== "") wholes.push("");
  const point = sign === "point" ? "." : ",";
  return new Set(wholes.map((text) => (fraction === "" ? text : `${text}${point}${fraction}`)));
};

/** Spaces of every width look alike, and so do both apostrophes: a text may mix them. */
const oneLook = (text: string): string =>
  text.replace(/[\u00a0\u2007\u2009\u202f]/g, " ").replaceAll("’", "'");

test("no text is read as a number that nobody writes in that way", () => {
  const marked = fc.string({
    unit: fc.constantFrom(...Array.from("0123456789.,' \u00a0\u202f’eE+-")),
    maxLength: 14,
  });
  const mutated = fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.constantFrom(",", ".", " ", "'"),
      fc.nat(14),
      fc.nat(14),
    )
    .map(([number, mark, at, other]) => {
      const text = number.toLocaleString("en");
      const spot = at % (text.length + 1);
      return (
        (other % 2 === 0 ? text.slice(0, spot) : text.slice(0, Math.max(0, spot - 1))) +
        mark +
        text.slice(spot)
      );
    });
  let read = 0;
  fc.assert(
    fc.property(fc.oneof(marked, mutated), fc.constantFrom("point", "comma"), (text, sign) => {
      const amount = amountOf(text, sign);
      if (amount === null || /e/i.test(text)) return;
      read += 1;
      const [whole = "", fraction = ""] = amount.split(".");
      // The reader ignores spaces before and after the number of a cell.
      expect([...writings(whole, fraction, sign)].map(oneLook)).toContain(oneLook(text.trim()));
    }),
    { numRuns: 5_000 },
  );
  expect(read).toBeGreaterThan(100);
});

test("an exponent gives exactly what the digits say", () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 999_999 }),
      fc.integer({ min: -9, max: 9 }),
      (digits, exponent) => {
        const amount = amountOf(`${String(digits)}e${String(exponent)}`, "point") ?? "";
        const [whole = "", fraction = ""] = amount.split(".");
        const scaled = BigInt(whole + fraction.padEnd(9, "0"));
        expect(scaled).toBe(BigInt(digits) * 10n ** BigInt(exponent + 9));
      },
    ),
  );
});

test("an amount written in any way is read as the same number", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 10n ** 15n }),
      fc.stringMatching(/^\d{0,6}$/),
      fc.constantFrom("point", "comma"),
      (whole, fraction, sign) => {
        const exact = fraction === "" ? String(whole) : `${String(whole)}.${fraction}`;
        for (const text of writings(String(whole), fraction, sign))
          expect(amountOf(text, sign), text).toBe(exact);
      },
    ),
  );
});
