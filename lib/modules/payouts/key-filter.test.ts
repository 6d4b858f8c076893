import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { countOf, createKeyFilter, prefixesOf, prefixesOfBytes } from "./key-filter";

const keys = (count: number): string[] => Array.from({ length: count }, () => randomBytes(16).toString("hex"));

test("a filter at its capacity contains every key that was added, and few others", () => {
  const known = keys(100_000);
  const filter = createKeyFilter(known.length);
  expect(filter.add(prefixesOf(known)).length).toBeLessThan(100);
  expect(filter.count).toBe(known.length);
  expect(filter.add(prefixesOf(keys(10_000))).length).toBeLessThan(100);
  expect(filter.add(prefixesOf(known))).toHaveLength(known.length);
});

test("a filter names the positions of keys that were added before, by the same call too", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((digit) => digit.repeat(32)) as [string, string, string, string];
  const filter = createKeyFilter(1000);
  expect(filter.add(prefixesOf([b, d]))).toEqual([]);
  expect(filter.add(prefixesOf([a, b, c, d, b, c]))).toEqual([1, 3, 4, 5]);
});

test("prefixes are the same from text and from bytes, wherever the bytes lie", () => {
  const some = keys(5);
  const bytes = Buffer.from(`00${some.map((key) => key.slice(0, 16)).join("")}`, "hex").subarray(1);
  expect(prefixesOfBytes(bytes)).toEqual(prefixesOf(some));
  expect(countOf(prefixesOf(some))).toBe(5);
  expect(countOf(prefixesOf([]))).toBe(0);
});
