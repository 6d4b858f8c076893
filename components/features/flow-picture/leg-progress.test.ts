import { describe, expect, test } from "vitest";
import type { Leg } from "@/components/features/operations/operation";
import { legProgress, type ProgressTimes, secondsLeft } from "./operation-flow";

const depth = (confirmations: number) => ({ confirmations, confirmationsNeeded: 4 });

const legOf = (change: Partial<Leg>): Leg =>
  ({
    state: "queued",
    kind: "bridge",
    txHash: null,
    destination: null,
    refund: null,
    route: { estimatedSeconds: 20, steps: [] },
    ...depth(0),
    ...change,
  }) as unknown as Leg;

const at = (seconds: number): ProgressTimes => ({
  nowMs: seconds * 1000,
  startedMs: 0,
  delayed: false,
});

describe("legProgress", () => {
  test("a leg fills from its source to its destination and never goes back on the way", () => {
    const stages = [
      legProgress(legOf({ state: "queued" }), at(0)),
      legProgress(legOf({ state: "submitted" }), at(1)),
      legProgress(legOf({ state: "source_seen", ...depth(1) }), at(2)),
      legProgress(legOf({ state: "source_seen", ...depth(4) }), at(3)),
      legProgress(legOf({ state: "bridging", ...depth(4) }), at(8)),
      legProgress(legOf({ state: "bridging", ...depth(4) }), at(19)),
      legProgress(
        legOf({ state: "filled_seen", destination: { ...depth(2) } as Leg["destination"] }),
        at(20),
      ),
      legProgress(legOf({ state: "completed" }), at(21)),
    ].map(({ fill }) => fill);
    expect([...stages].sort((a, b) => a - b)).toEqual(stages);
    expect(stages[0]).toBe(0);
    expect(stages.at(-1)).toBe(1);
  });

  test("a crossing that takes long waits before the end and is drawn as late", () => {
    const late = legProgress(legOf({ state: "bridging" }), at(500));
    expect(late.look).toBe("late");
    expect(late.fill).toBeLessThan(1);
    expect(legProgress(legOf({ state: "bridging" }), { ...at(1), delayed: true }).look).toBe(
      "late",
    );
  });

  test("money that comes back turns, and its coin is on the way back until it is there", () => {
    expect(legProgress(legOf({ state: "refunding" }), at(60))).toMatchObject({
      look: "returning",
      coin: "back",
    });
    const seen = legProgress(
      legOf({ state: "refund_seen", refund: { ...depth(2) } as Leg["refund"] }),
      at(61),
    );
    const back = legProgress(legOf({ state: "refunded" }), at(62));
    expect(seen.back).toBeGreaterThan(0);
    expect(seen.back).toBeLessThan(back.back);
    expect(back).toMatchObject({ look: "returned", back: 1, coin: null });
  });

  test("a leg that failed before it was sent fills nothing", () => {
    expect(legProgress(legOf({ state: "failed" }), at(1))).toMatchObject({
      look: "failed",
      fill: 0,
      coin: null,
    });
  });
});

test("the time left is that of the slowest leg that still moves, and unknown once it is over", () => {
  const legs = [legOf({ state: "bridging" }), legOf({ state: "completed" })];
  expect(secondsLeft(legs, () => at(5))).toBe(15);
  expect(secondsLeft(legs, () => at(20))).toBeNull();
  expect(secondsLeft([legOf({ state: "completed" })], () => at(5))).toBeNull();
});
