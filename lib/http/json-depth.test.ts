import fc from "fast-check";
import { expect, test } from "vitest";
import { isDeeperThan } from "./parse";

const depthOf = (value: unknown): number =>
  typeof value === "object" && value !== null
    ? 1 + Math.max(0, ...Object.values(value).map((inner: unknown) => depthOf(inner)))
    : 0;

test("the depth of any JSON is found, whatever its texts and names contain", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 8, stringUnit: "binary" }),
      fc.nat(9),
      (value, limit) => {
        expect(isDeeperThan(JSON.stringify(value), limit)).toBe(depthOf(value) > limit);
      },
    ),
  );
});

test("brackets and quotes within texts do not count", () => {
  expect(isDeeperThan(String.raw`{"[[[\"{{{\\":"]]\\\"[[["}`, 1)).toBe(false);
  expect(isDeeperThan(String.raw`{"a\\":[{}]}`, 2)).toBe(true);
});

test("reading stops at the first level too many", () => {
  let read = 0;
  const endless = {
    length: 1_000_000,
    charCodeAt: () => {
      read += 1;
      return 0x5b;
    },
  };
  expect(isDeeperThan(endless as unknown as string, 20)).toBe(true);
  expect(read).toBe(21);
});
