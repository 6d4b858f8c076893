import { describe, expect, test } from "vitest";
import { legSentence, statusSentence } from "./sentences";
import type { Leg, Operation } from "./types";

const name = (chainId: number): string => `Local ${chainId}`;

const leg = (change: Partial<Leg>): Leg =>
  ({
    chainId: 1,
    via: "user_operation",
    confirmations: 1,
    confirmationsNeeded: 2,
    status: "processing",
    state: "bridging",
    failure: null,
    destination: null,
    refund: null,
    ...change,
  }) as Leg;
const operation = (legs: Leg[], change: Partial<Operation> = {}): Operation =>
  ({ status: "processing", subStatus: "bridging", quoted: { to: { chainId: 3 } }, legs, ...change }) as Operation;

describe("an operation under way", () => {
  test("says how deep it is, where confirmations are counted", () => {
    expect(statusSentence(operation([leg({ state: "source_seen" })]), name)).toBe(
      "In a block on Local 1, 1 of 2 confirmations.",
    );
    const destination = { confirmations: 1, confirmationsNeeded: 1 } as Leg["destination"];
    expect(legSentence(leg({ state: "filled_seen", destination }), 3, name)).toBe(
      "Delivered on Local 3, 1 of 1 confirmation",
    );
  });

  test("is as far as its slowest leg, and counts what arrived", () => {
    const legs = [
      leg({ state: "completed", status: "completed" }),
      leg({ state: "filled_seen" }),
      leg({ state: "submitted", chainId: 2 }),
    ];
    expect(statusSentence(operation(legs), name)).toBe(
      "1 of 3 parts arrived. Slowest: sent to Local 2, not in a block yet.",
    );
  });

  test("says so when it is late or on its way back", () => {
    expect(statusSentence(operation([leg({})], { subStatus: "delayed" }), name)).toBe(
      "On the way from Local 1 to Local 3, 1 of 2 confirmations on Local 1. It takes longer than usual.",
    );
    const legs = [leg({ state: "submitted" }), leg({ state: "refunding" })];
    expect(statusSentence(operation(legs, { subStatus: "refunding" }), name)).toMatch(/not delivered in time/);
  });

  test("says whose transaction it waits for, and who uses a permit", () => {
    expect(legSentence(leg({ state: "submitted", via: "transaction" }), 3, name)).toMatch(
      /the wallet's own transaction/,
    );
    expect(legSentence(leg({ state: "queued", via: "permit" }), 3, name)).toMatch(/treasury .* permit/);
  });

  test("that waits for a person says so, and that nothing was sent", () => {
    const waiting = (subStatus: Operation["subStatus"]) =>
      statusSentence(operation([leg({ state: "queued" })], { status: "pending", subStatus }), name);
    expect(waiting("awaiting_approval")).toBe("Waiting for approval; nothing was sent.");
    expect(waiting("awaiting_signature")).toBe("Waiting for a signature; nothing was sent.");
  });

  test("whose source was refused is not called delivered", () => {
    const failure = { code: "source_reverted", message: "", retryable: true };
    expect(legSentence(leg({ state: "source_seen", failure }), 3, name)).toMatch(/^Refused by Local 1/);
  });
});

test("an ended operation says where the money is", () => {
  const sentences = (["completed", "failed", "refunded", "expired", "cancelled"] as const).map((status) =>
    statusSentence(operation([], { status, subStatus: "full" }), name),
  );
  expect(sentences).toEqual([
    "Arrived on Local 3.",
    "Nothing arrived; the money is in the source wallets.",
    "Nothing arrived; the money is back.",
    "Not executed in time; nothing was sent.",
    "Cancelled; nothing was sent.",
  ]);
  expect(statusSentence(operation([], { status: "completed", subStatus: "partial" }), name)).toMatch(/^A part arrived/);
});

test("of money that may have moved all the same, no sentence says where it is", () => {
  const failure = { code: "not_sent", message: "", retryable: false };
  const unclear = leg({ state: "failed", status: "failed", failure });
  expect(legSentence(unclear, 3, name)).toBe("Failed; whether the money left the wallet on Local 1 is not certain");
  for (const status of ["failed", "refunded", "completed"] as const)
    expect(statusSentence(operation([unclear], { status }), name)).toMatch(/is not certain\.$/);
  const clear = leg({ state: "failed", status: "failed", failure: { ...failure, retryable: true } });
  expect(statusSentence(operation([clear], { status: "failed" }), name)).toMatch(/in the source wallets\.$/);
});
