import { expect, test } from "vitest";
import { closestName } from "./closest-name";

const KEY_FIELDS = [
  "name",
  "scopes",
  "expiresAt",
  "networks",
  "dailyCapUsd",
  "recipients",
  "otp",
];

test.each([
  ["recipents", KEY_FIELDS, "recipients"],
  ["scope", KEY_FIELDS, "scopes"],
  ["dailyCapUSD", KEY_FIELDS, "dailyCapUsd"],
  ["network", KEY_FIELDS, "networks"],
  ["expiresat", KEY_FIELDS, "expiresAt"],
  ["validate_only", ["validateOnly", "allowDuplicates"], "validateOnly"],
  ["minAmout", ["amount", "minAmount"], "minAmount"],
  ["statuss", ["status", "kind"], "status"],
  ["naem", ["name"], "name"],
  ["recipeint", ["recipient", "amount"], "recipient"],
  ["colour", KEY_FIELDS, null],
  ["x", KEY_FIELDS, null],
  ["x".repeat(10_000), KEY_FIELDS, null],
  ["name", [], null],
])("%.20s means %s → %s", (given, known, expected) => {
  expect(closestName(given, known)).toBe(expected);
});
