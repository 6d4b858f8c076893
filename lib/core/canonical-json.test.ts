import { expect, test } from "vitest";
import { canonicalJson } from "./canonical-json";

const of = (text: string): string => canonicalJson(JSON.parse(text));

test.each([
  ['{"a":1,"b":[{"c":2,"d":3}]}', ' { "b" : [ { "d": 3, "c": 2 } ], "a": 1.0 } '],
  ['{"name":"é"}', '{"name":"\\u00e9"}'],
  ['{"2":1,"10":2,"a":3}', '{"a":3,"10":2,"2":1}'],
])("%s and %s are the same value", (one, other) => {
  expect(of(one)).toBe(of(other));
});

test.each([
  ["[1,2]", "[2,1]"],
  ['{"a":"1"}', '{"a":1}'],
  ['{"a":null}', "{}"],
  ['{"a":{"b":1}}', '{"a":{"c":1}}'],
  ['{"__proto__":{"b":1}}', "{}"],
])("%s and %s are different values", (one, other) => {
  expect(of(one)).not.toBe(of(other));
});
