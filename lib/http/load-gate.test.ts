import { expect, test } from "vitest";
import { ALWAYS_ADMITTED, createLoadGate, type LoadGate } from "./load-gate";

const ALLOWED_MS = 10_000;

/** A gate with a clock of its own, and requests that end when the test says so. */
const newGate = () => {
  let nowMs = 0;
  const gate = createLoadGate(ALLOWED_MS, () => nowMs);
  return {
    gate,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
};

const open = (gate: LoadGate, count: number) => {
  const ends: (() => void)[] = [];
  const results = Array.from({ length: count }, () =>
    gate
      .run(() => new Promise<void>((resolve) => ends.push(resolve)))
      .then(
        () => "served",
        (error: unknown) => (error as { readonly code: string }).code,
      ),
  );
  return {
    end: () => {
      for (const end of ends) end();
      return Promise.all(results);
    },
  };
};

const countOf = (results: readonly string[], outcome: string): number =>
  results.filter((result) => result === outcome).length;

test("a burst without measurements is admitted whole", async () => {
  const { gate } = newGate();
  expect(countOf(await open(gate, 300).end(), "served")).toBe(300);
});

test("while even the fastest request was slow, only a few run at once and others are refused", async () => {
  const { gate, pass } = newGate();
  const first = open(gate, 100);
  pass(9_000);
  await first.end();
  const results = await open(gate, 100).end();
  expect(countOf(results, "served")).toBe(ALWAYS_ADMITTED);
  expect(countOf(results, "service_unavailable")).toBe(100 - ALWAYS_ADMITTED);
});

test("one fast request shows that there is no queue", async () => {
  const { gate, pass } = newGate();
  const slow = open(gate, 20);
  pass(9_000);
  await slow.end();
  const fast = open(gate, 1);
  pass(1_000);
  await fast.end();
  expect(countOf(await open(gate, 100).end(), "served")).toBe(100);
});

test("old measurements are forgotten", async () => {
  const { gate, pass } = newGate();
  const slow = open(gate, 20);
  pass(9_000);
  await slow.end();
  pass(10_001);
  expect(countOf(await open(gate, 100).end(), "served")).toBe(100);
});

test("errors that come quickly are not measured", async () => {
  const { gate, pass } = newGate();
  const slow = open(gate, 20);
  pass(9_000);
  await slow.end();
  await gate.run(() => Promise.reject(new Error("wrong field"))).catch(() => undefined);
  expect(countOf(await open(gate, 100).end(), "served")).toBe(ALWAYS_ADMITTED);
});
