import { describe, expect, test } from "vitest";
import { legSteps } from "./leg-timeline";
import type { Leg, OperationEvent } from "./types";

const name = (chainId: number): string => `Local ${chainId}`;
const depth = (confirmations: number): NonNullable<Leg["destination"]> => ({
  chainId: 3,
  txHash: "0xd",
  blockNumber: "1",
  confirmations,
  confirmationsNeeded: 2,
  explorerUrl: null,
});
const leg = (change: Partial<Leg>): Leg =>
  ({
    id: "leg_1",
    chainId: 1,
    txHash: null,
    explorerUrl: null,
    confirmations: 0,
    confirmationsNeeded: 2,
    kind: "bridge",
    status: "processing",
    state: "queued",
    failure: null,
    destination: null,
    refund: null,
    ...change,
  }) as Leg;
const statesOf = (given: Leg, events: OperationEvent[] = []): string[] =>
  legSteps(given, 3, name, events).map((step) => `${step.id} ${step.state}`);

describe("a leg across chains", () => {
  test("has one step under way at a time, from signing to delivery", () => {
    expect(statesOf(leg({}))).toEqual([
      "queued current",
      "submitted todo",
      "source todo",
      "bridge todo",
      "delivery todo",
    ]);
    expect(statesOf(leg({ state: "submitted" }))[1]).toBe("submitted current");
    expect(statesOf(leg({ state: "completed", txHash: "0x1", confirmations: 2, destination: depth(2) }))).toEqual([
      "queued done",
      "submitted done",
      "source done",
      "bridge done",
      "delivery done",
    ]);
  });

  test("is delivered while its source still gathers confirmations, and says both", () => {
    const given = leg({ state: "filled_seen", txHash: "0x1", confirmations: 1, destination: depth(1) });
    expect(statesOf(given).slice(2)).toEqual(["source current", "bridge done", "delivery current"]);
    expect(legSteps(given, 3, name, []).map((step) => step.note)).toEqual([
      null,
      null,
      "1 of 2 confirmations",
      null,
      "1 of 2 confirmations",
    ]);
  });

  test("that nobody filled ends with the money back, not with a delivery", () => {
    const given = leg({ state: "refunded", status: "refunded", txHash: "0x1", confirmations: 2, refund: depth(2) });
    expect(statesOf(given).slice(3)).toEqual(["bridge attention", "refund refunded"]);
  });
});

test("a leg on one chain has no bridge", () => {
  expect(statesOf(leg({ kind: "swap", state: "source_seen", txHash: "0x1", confirmations: 1 }))).toEqual([
    "queued done",
    "submitted done",
    "source current",
    "delivery todo",
  ]);
});

test("a failed leg stops at what failed, and says why", () => {
  const failure = { code: "source_reverted", message: "The price fell.", retryable: true };
  const given = leg({ state: "failed", status: "failed", txHash: "0x1", confirmations: 2, failure });
  expect(statesOf(given)).toEqual(["submitted done", "source failed"]);
  expect(legSteps(given, 3, name, []).at(-1)?.note).toBe("The price fell.");
  expect(statesOf(leg({ state: "failed", failure }))).toEqual(["submitted failed"]);
});

test("each step carries the time of its last event, of this leg alone", () => {
  const event = (type: string, legId: string, createdAt: string): OperationEvent => ({
    seq: 1,
    type,
    operationId: "op_1",
    data: { legId },
    createdAt,
  });
  const events = [
    event("leg.source_seen", "leg_1", "2026-01-01T00:00:01Z"),
    event("leg.source_seen", "leg_1", "2026-01-01T00:00:09Z"),
    event("leg.source_seen", "leg_2", "2026-01-01T00:00:20Z"),
  ];
  const source = legSteps(leg({ state: "bridging", txHash: "0x1" }), 3, name, events)[2];
  expect(source?.at).toBe("2026-01-01T00:00:09Z");
});
