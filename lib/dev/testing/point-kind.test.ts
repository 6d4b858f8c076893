import { expect, test } from "vitest";
import { POINT_KINDS, pointKind } from "./point-kind";

test.each([
  ["before", "eth_sendRawTransaction 31337", true, "before a broadcast"],
  ["after", "COMMIT operation_event leg.submitted 0", true, "after the commit of a leg's step"],
  [
    "before",
    "COMMIT operation_event operation.completed",
    true,
    "before the commit of an operation's step",
  ],
  ["after", "UPDATE chain_transaction mined", true, "after a transaction's status is stored"],
  ["before", "UPDATE chain_transaction", false, "before a write inside a transaction"],
  [
    "after",
    "COMMIT operation_event leg.completed 1, the end",
    true,
    "after the end of an operation",
  ],
  ["before", "DELETE FROM job", true, "another point"],
  ["before", "eth_call", false, "before a question to a node"],
  ["before", "UPDATE job", true, "another point"],
  ["after", "COMMIT sponsor_usage", true, "another point"],
] as const)(
  "the point %s %s (with effect: %s) is of the kind: %s",
  (stage, label, hasEffect, kind) => {
    expect(pointKind({ stage, label, hasEffect })).toBe(kind);
  },
);

test("each kind is named once", () => {
  expect(new Set(POINT_KINDS).size).toBe(POINT_KINDS.length);
});
