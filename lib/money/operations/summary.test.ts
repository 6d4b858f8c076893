import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LEG_STATES } from "@/lib/contracts/operation-records";
import { isFinal } from "@/lib/core/status";
import {
  isLegFinal,
  LEG_TRANSITIONS,
  type LegResult,
  type LegState,
  summarizeLegs,
} from "./summary";

const MINIMUM = 100n;

/** Legs that share the minimum. Each completed one delivered its part. */
const legsIn = (states: readonly LegState[]): LegResult[] =>
  states.map((state) => ({
    state,
    receivedBase: state === "completed" ? MINIMUM / BigInt(states.length) + 1n : null,
  }));
const summaryOf = (states: readonly LegState[], delayed = false) =>
  summarizeLegs(legsIn(states), { minimumBase: MINIMUM, delayed });

const states = fc.array(fc.constantFrom(...LEG_STATES), { minLength: 1, maxLength: 10 });

describe("the status of an operation", () => {
  test("is final exactly when every leg is", () => {
    fc.assert(
      fc.property(states, fc.boolean(), (legs, delayed) => {
        expect(isFinal(summaryOf(legs, delayed).status)).toBe(legs.every(isLegFinal));
      }),
    );
  });

  test("does not depend on the order of the legs", () => {
    fc.assert(
      fc.property(states, (legs) => {
        expect(summaryOf([...legs].reverse())).toEqual(summaryOf(legs));
      }),
    );
  });

  test.each<[LegState[], string, string]>([
    [["completed", "completed"], "completed", "full"],
    [["completed", "failed"], "partially_completed", "partial"],
    [["completed", "refunded"], "partially_completed", "partial"],
    [["refunded", "failed"], "refunded", "partial"],
    [["refunded"], "refunded", "full"],
    [["failed", "failed"], "failed", "full"],
    [["completed", "refunding"], "processing", "refunding"],
    [["refunding", "needs_attention"], "processing", "needs_attention"],
    [["filled_seen", "submitted"], "processing", "source_submitted"],
    [["filled_seen", "completed"], "processing", "destination_submitted"],
    [["queued", "bridging"], "processing", "queued"],
  ])("of legs %j is %s (%s)", (legs, status, subStatus) => {
    expect(summaryOf(legs)).toEqual({ status, subStatus });
  });

  test("is completed only when the legs together delivered the promised minimum", () => {
    const end = (...legs: readonly (readonly [LegState, bigint | null])[]) =>
      summarizeLegs(
        legs.map(([state, receivedBase]) => ({ state, receivedBase })),
        { minimumBase: MINIMUM },
      );
    expect(end(["completed", 99n])).toEqual({
      status: "partially_completed",
      subStatus: "partial",
    });
    expect(end(["completed", 99n], ["refunded", null])).toEqual({
      status: "partially_completed",
      subStatus: "partial",
    });
    // The amount that a later refunded or failed leg was once seen to deliver does not count.
    expect(end(["completed", 99n], ["failed", 50n]).status).toBe("partially_completed");
    expect(end(["completed", 100n], ["refunded", null])).toEqual({
      status: "completed",
      subStatus: "partial",
    });
    expect(end(["completed", 40n], ["completed", 60n])).toEqual({
      status: "completed",
      subStatus: "full",
    });
  });

  test("tells of a delay only while nothing is refunding", () => {
    expect(summaryOf(["bridging"], true).subStatus).toBe("delayed");
    expect(summaryOf(["bridging", "refunding"], true).subStatus).toBe("refunding");
    expect(summaryOf(["bridging", "needs_attention"], true).subStatus).toBe("needs_attention");
    expect(summaryOf(["completed"], true).subStatus).toBe("full");
  });
});

test("money that left the wallet is never called failed: a leg fails only before or at its source", () => {
  const mayFail = LEG_STATES.filter((state) =>
    (LEG_TRANSITIONS[state] as readonly LegState[]).includes("failed"),
  );
  expect(mayFail).toEqual(["queued", "submitted", "source_seen"]);
});
