import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { countOf, createKeyFilter, prefixesOf, prefixesOfBytes } from "./key-filter";

const keys = (count: number): string[] => Array.from({ length: count }, () => randomBytes(16).toString("hex"));

test("a filter at its capacity contains every key that was added, and few others", () => {
  const known = keys(100_000);
  const filter = createKeyFilter(known.length);
  filter.add(prefixesOf(known));
  expect(filter.candidates(prefixesOf(known))).toHaveLength(known.length);
  expect(filter.count).toBe(known.length);
  const others = filter.candidates(prefixesOf(keys(100_000)));
  expect(others.length).toBeLessThan(1000);
});

test("a filter names the positions of the keys that it may contain", () => {
  const [a, b, c, d] = ["a", "b", "c", "d"].map((digit) => digit.repeat(32)) as [string, string, string, string];
  const filter = createKeyFilter(1000);
  expect(filter.candidates(prefixesOf([a, b]))).toEqual([]);
  filter.add(prefixesOf([b, d]));
  expect(filter.candidates(prefixesOf([a, b, c, d, b]))).toEqual([1, 3, 4]);
});

test("prefixes are the same from text and from bytes, wherever the bytes lie", () => {
  const some = keys(5);
  const bytes = Buffer.from(`00${some.map((key) => key.slice(0, 16)).join("")}`, "hex").subarray(1);
  expect(prefixesOfBytes(bytes)).toEqual(prefixesOf(some));
  expect(countOf(prefixesOf(some))).toBe(5);
  expect(countOf(prefixesOf([]))).toBe(0);
});
