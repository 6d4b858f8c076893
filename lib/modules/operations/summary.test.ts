import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { LEG_STATES } from "@/lib/contracts/operation-records";
import { isFinal } from "@/lib/core/status";
import { isLegFinal, LEG_TRANSITIONS, summarizeLegs, type LegState } from "./summary";

const states = fc.array(fc.constantFrom(...LEG_STATES), { minLength: 1, maxLength: 10 });

describe("the status of an operation", () => {
  test("is final exactly when every leg is", () => {
    fc.assert(
      fc.property(states, fc.boolean(), (legs, delayed) => {
        expect(isFinal(summarizeLegs(legs, delayed).status)).toBe(legs.every(isLegFinal));
      }),
    );
  });

  test("does not depend on the order of the legs", () => {
    fc.assert(
      fc.property(states, (legs) => {
        expect(summarizeLegs([...legs].reverse())).toEqual(summarizeLegs(legs));
      }),
    );
  });

  test.each<[LegState[], string, string]>([
    [["completed", "completed"], "completed", "full"],
    [["completed", "failed"], "completed", "partial"],
    [["completed", "refunded"], "completed", "partial"],
    [["refunded", "failed"], "refunded", "partial"],
    [["refunded"], "refunded", "full"],
    [["failed", "failed"], "failed", "full"],
    [["completed", "refunding"], "processing", "refunding"],
    [["filled_seen", "submitted"], "processing", "source_submitted"],
    [["filled_seen", "completed"], "processing", "destination_submitted"],
    [["queued", "bridging"], "processing", "queued"],
  ])("of legs %j is %s (%s)", (legs, status, subStatus) => {
    expect(summarizeLegs(legs)).toEqual({ status, subStatus });
  });

  test("tells of a delay only while nothing is refunding", () => {
    expect(summarizeLegs(["bridging"], true).subStatus).toBe("delayed");
    expect(summarizeLegs(["bridging", "refunding"], true).subStatus).toBe("refunding");
    expect(summarizeLegs(["completed"], true).subStatus).toBe("full");
  });
});

test("money that left the wallet is never called failed: a leg fails only before or at its source", () => {
  const mayFail = LEG_STATES.filter((state) => (LEG_TRANSITIONS[state] as readonly LegState[]).includes("failed"));
  expect(mayFail).toEqual(["queued", "submitted", "source_seen"]);
});
