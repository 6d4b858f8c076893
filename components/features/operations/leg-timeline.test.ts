import { describe, expect, test } from "vitest";
import { legSteps } from "./leg-timeline";
import type { Leg, OperationEvent } from "./operation";

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
    via: "user_operation",
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
  legSteps(given, { toChainId: 3, chainName: name, events }).map(
    (step) => `${step.id} ${step.state}`,
  );

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
    expect(
      statesOf(
        leg({ state: "completed", txHash: "0x1", confirmations: 2, destination: depth(2) }),
      ),
    ).toEqual(["queued done", "submitted done", "source done", "bridge done", "delivery done"]);
  });

  test("asks for a person where its refund is not certain, and is followed as a refund after the decision", () => {
    const unclear = leg({ state: "needs_attention", txHash: "0x1", confirmations: 2 });
    expect(statesOf(unclear).slice(3)).toEqual(["bridge attention", "refund attention"]);
    const step = legSteps(unclear, { toChainId: 3, chainName: name, events: [] }).at(-1);
    expect(step).toMatchObject({
      title: "Refund on Local 1 not certain",
      note: "A person has to decide; see below.",
    });
    const decided = leg({
      state: "refund_seen",
      txHash: "0x1",
      confirmations: 2,
      refund: depth(1),
    });
    expect(statesOf(decided).slice(3)).toEqual(["bridge attention", "refund current"]);
  });

  test("is delivered while its source still gathers confirmations, and says both", () => {
    const given = leg({
      state: "filled_seen",
      txHash: "0x1",
      confirmations: 1,
      destination: depth(1),
    });
    expect(statesOf(given).slice(2)).toEqual([
      "source current",
      "bridge done",
      "delivery current",
    ]);
    expect(
      legSteps(given, { toChainId: 3, chainName: name, events: [] }).map((step) => step.note),
    ).toEqual([null, null, "1 of 2 confirmations", null, "1 of 2 confirmations"]);
  });

  test("that nobody filled ends with the money back, not with a delivery", () => {
    const given = leg({
      state: "refunded",
      status: "refunded",
      txHash: "0x1",
      confirmations: 2,
      refund: depth(2),
    });
    expect(statesOf(given).slice(3)).toEqual(["bridge attention", "refund refunded"]);
  });
});

test("a leg on one chain has no bridge", () => {
  expect(
    statesOf(leg({ kind: "swap", state: "source_seen", txHash: "0x1", confirmations: 1 })),
  ).toEqual(["queued done", "submitted done", "source current", "delivery todo"]);
});

test("a failed leg stops at what failed, and says why", () => {
  const failure = { code: "source_reverted", message: "The price fell.", retryable: true };
  const given = leg({
    state: "failed",
    status: "failed",
    txHash: "0x1",
    confirmations: 2,
    failure,
  });
  expect(statesOf(given)).toEqual(["submitted done", "source failed"]);
  expect(legSteps(given, { toChainId: 3, chainName: name, events: [] }).at(-1)?.note).toBe(
    "The price fell.",
  );
  expect(statesOf(leg({ state: "failed", failure }))).toEqual(["submitted failed"]);
});

const event = (
  seq: number,
  type: string,
  data: Record<string, unknown> = {},
): OperationEvent => ({
  seq,
  type,
  operationId: "op_1",
  data: { legId: "leg_1", ...data },
  createdAt: `2026-01-01T00:00:0${seq}Z`,
});
const stepsOf = (given: Leg, events: OperationEvent[] = [], delayed = false) =>
  legSteps(given, { toChainId: 3, chainName: name, events, delayed });

describe("a reorganisation", () => {
  const dropped = event(2, "leg.reorganised", { side: "source" });

  test("is told at the step that it undid, until it is seen again", () => {
    const events = [event(1, "leg.source_seen"), dropped];
    const step = stepsOf(leg({ state: "submitted" }), events)[1];
    expect(step).toMatchObject({ id: "submitted", state: "attention" });
    expect(step?.note).toMatch(/^Local 1 dropped the block .* never sent twice/);
    expect(stepsOf(leg({ state: "submitted" }), events)[2]).toMatchObject({
      id: "source",
      state: "todo",
      at: null,
    });
    const again = stepsOf(leg({ state: "bridging", txHash: "0x1" }), [
      ...events,
      event(3, "leg.source_seen"),
    ]);
    expect(again.map(({ state }) => state)).toEqual([
      "done",
      "done",
      "current",
      "current",
      "todo",
    ]);
  });

  test("of the destination is told at the crossing, not at the source", () => {
    const events = [
      event(1, "leg.filled_seen"),
      event(2, "leg.reorganised", { side: "destination" }),
    ];
    const steps = stepsOf(leg({ state: "bridging", txHash: "0x1", confirmations: 2 }), events);
    expect(steps.map(({ id, state }) => `${id} ${state}`)).toEqual([
      "queued done",
      "submitted done",
      "source done",
      "bridge attention",
      "delivery todo",
    ]);
    expect(steps[3]?.note).toMatch(/^Local 3 dropped/);
  });

  test("of the refund is told at the refund", () => {
    const events = [
      event(1, "leg.refund_seen"),
      event(2, "leg.reorganised", { side: "refund" }),
    ];
    expect(stepsOf(leg({ state: "refunding", txHash: "0x1" }), events).at(-1)?.note).toMatch(
      /^Local 1 dropped/,
    );
  });

  test("of another leg changes nothing", () => {
    const other = { ...dropped, data: { legId: "leg_2", side: "source" } };
    expect(stepsOf(leg({ state: "submitted" }), [other])[1]).toMatchObject({
      state: "current",
      note: null,
    });
  });
});

describe("who signs and sends is said as it is", () => {
  test("a wallet's own transaction is waited for", () => {
    expect(
      stepsOf(leg({ via: "transaction", state: "submitted" })).map(({ title }) => title),
    ).toEqual([
      "Signed by the wallet",
      "Waiting for the wallet's transaction on Local 1",
      "In a block on Local 1",
      "Crossing from Local 1 to Local 3",
      "Delivery on Local 3",
    ]);
  });

  test("a permit is used by the treasury", () => {
    expect(stepsOf(leg({ via: "permit" }))[0]?.title).toBe(
      "Permit signed, waiting for the treasury",
    );
    expect(stepsOf(leg({ via: "permit", state: "bridging" }))[1]?.title).toBe(
      "Sent to Local 1 by the treasury, with the permit",
    );
  });
});

test("a late leg says at the step where it stands where the money is and what to do", () => {
  const late = (given: Leg): string[] =>
    stepsOf(given, [], true).flatMap(({ id, note }) =>
      note?.includes("longer than usual") === true ? [`${id}: ${note}`] : [],
    );
  expect(late(leg({ state: "bridging", txHash: "0x1", confirmations: 2 }))).toEqual([
    expect.stringMatching(/^bridge: .*with the bridge/),
  ]);
  expect(late(leg({ state: "submitted", via: "transaction" }))).toEqual([
    expect.stringMatching(/^submitted: .*raise the fee/),
  ]);
  expect(late(leg({ state: "refunding", txHash: "0x1", confirmations: 2 }))).toEqual([
    "refund: The bridge pays it back by itself. Taking longer than usual. The money is with the bridge, which pays it back to the wallet. Nothing to do.",
  ]);
  expect(late(leg({ state: "completed", status: "completed", txHash: "0x1" }))).toEqual([]);
});

test("each step carries the time of its last event, of this leg alone", () => {
  const at = (type: string, legId: string, createdAt: string): OperationEvent => ({
    seq: 1,
    type,
    operationId: "op_1",
    data: { legId },
    createdAt,
  });
  const events = [
    at("leg.source_seen", "leg_1", "2026-01-01T00:00:01Z"),
    at("leg.source_seen", "leg_1", "2026-01-01T00:00:09Z"),
    at("leg.source_seen", "leg_2", "2026-01-01T00:00:20Z"),
  ];
  const source = legSteps(leg({ state: "bridging", txHash: "0x1" }), {
    toChainId: 3,
    chainName: name,
    events,
  })[2];
  expect(source?.at).toBe("2026-01-01T00:00:09Z");
});
