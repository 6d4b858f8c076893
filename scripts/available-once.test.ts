import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

/**
 * Only `availableOf` of lib/books/reserves computes how much money may be moved. Pages, routes and
 * texts show its result, because a second computation would sooner or later differ from it. These
 * are the files where a second computation could appear.
 */
const PLACES = [
  "app",
  "components",
  "lib/news/mail",
  "lib/money/notifications",
  "lib/money/inbox",
  "lib/money/activity",
];
const PARTS_OF_A_BALANCE =
  "(?:reserved|held|holds|pendingOut|quarantined|backing|available|spendable|onHold)(?:Base|Amount)?";
const COMPUTES = [
  /\bsubtractAmounts\(/,
  new RegExp(`\\b${PARTS_OF_A_BALANCE}\\b\\)? - `),
  new RegExp(` - (?:\\w+\\.)*${PARTS_OF_A_BALANCE}\\b`),
  /\bavailableOf\(/,
];

/** Subtractions that do not compute the available amount, each with its meaning. */
const OTHERS: Readonly<Record<string, string>> = {
  "components/features/money-flow/receipt-parts.tsx":
    "The available amount of the service, less the amount under review.",
  "components/features/money-flow/spendable.ts":
    "The amount that is missing for what was typed.",
  "components/features/receive/receive.tsx": "The amount that an expected deposit lacks.",
};

const isComputing = (code: string): boolean =>
  code
    .split("\n")
    .filter((line) => !/^\s*(?:\/\/|\/?\*)/.test(line))
    .some((line) => COMPUTES.some((pattern) => pattern.test(line)));

test("no page, route or text computes how much may be moved", () => {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", ...PLACES], {
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file));
  expect(files.length).toBeGreaterThan(500);
  const computing = files.filter((file) => isComputing(readFileSync(file, "utf8")));
  expect(computing.toSorted()).toEqual(Object.keys(OTHERS).toSorted());
});

test.each([
  "const free = onChain - reserved;",
  "const free = balance.amountBase - balance.heldBase;",
  "const rest = subtractAmounts(balance, reserved);",
  "const left = available - asked;",
])("a computation is found: %s", (code) => {
  expect(isComputing(code)).toBe(true);
});

test.each([
  "// available - asked",
  "const width = right - left;",
  "<p>available – reserved</p>",
])("anything else is not: %s", (code) => {
  expect(isComputing(code)).toBe(false);
});
