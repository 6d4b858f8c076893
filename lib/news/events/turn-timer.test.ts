import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTurns, type Turn, type TurnTimer } from "./sequencer";

const NOTHING: Turn = { found: false, hasMore: false };
const ONE: Turn = { found: true, hasMore: false };
const FULL: Turn = { found: true, hasMore: true };
const POLL_MS = 50;

let turns: TurnTimer | null = null;
/** Milliseconds from the start at which turns began. */
let began: number[] = [];
let errors: unknown[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  began = [];
  errors = [];
});
afterEach(async () => {
  const stopped = turns?.stop();
  await vi.advanceTimersByTimeAsync(1000);
  await stopped;
  turns = null;
  vi.useRealTimers();
});

/** @param turn made after `tookMs` milliseconds */
const start = (turn: () => Turn, tookMs = 0): TurnTimer => {
  const at = performance.now();
  turns = startTurns(
    async () => {
      began.push(Math.round(performance.now() - at));
      if (tookMs > 0) await new Promise((resolve) => setTimeout(resolve, tookMs));
      return turn();
    },
    { pollMs: POLL_MS, onError: (error) => errors.push(error) },
  );
  return turns;
};
/** Announces events every millisecond. @returns milliseconds between the starts of turns */
const underLoad = async ({ announce }: TurnTimer, ms: number): Promise<number[]> => {
  for (let at = 0; at < ms; at += 1) {
    announce();
    await pass(1);
  }
  return began.slice(1).map((at, index) => at - (began[index] ?? 0));
};
const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

test("the first turn is made at once, and then one in each interval", async () => {
  start(() => NOTHING);
  await pass(120);
  expect(began).toEqual([0, 50, 100]);
});

test("a turn that leaves something follows at once", async () => {
  const made = [FULL, FULL, ONE];
  start(() => made.shift() ?? NOTHING);
  await pass(10);
  expect(began).toHaveLength(3);
});

test("announced events are numbered 5 ms later, those that are announced meanwhile with them", async () => {
  const { announce } = start(() => NOTHING);
  await pass(10);
  announce();
  await pass(3);
  announce();
  await pass(20);
  expect(began).toEqual([0, 15]);
});

test("an announcement delays no turn that is due earlier", async () => {
  const { announce } = start(() => NOTHING);
  await pass(48);
  announce();
  await pass(5);
  expect(began).toEqual([0, 50]);
});

test("events that are committed during a turn get the next one soon after it", async () => {
  const { announce } = start(() => NOTHING, 10);
  await pass(4);
  announce();
  await pass(20);
  expect(began).toEqual([0, 15]);
});

test("three announced turns follow each other; under constant announcements there is then one in 20 ms", async () => {
  const gaps = await underLoad(
    start(() => ONE),
    500,
  );
  expect(began.slice(0, 3)).toEqual([0, 5, 10]);
  expect(gaps.length).toBeGreaterThan(20);
  expect(new Set(gaps.slice(3))).toEqual(new Set([20]));
});

test("turns that are slow, because the database is busy, take a third of the time", async () => {
  const gaps = await underLoad(
    start(() => ONE, 25),
    2000,
  );
  expect(gaps.length).toBeGreaterThan(20);
  expect(new Set(gaps.slice(3))).toEqual(new Set([75]));
});

test("turns begin 150 ms apart at most, unless one takes longer", async () => {
  const gaps = await underLoad(
    start(() => ONE, 100),
    6000,
  );
  expect(gaps.length).toBeGreaterThan(30);
  expect(new Set(gaps.slice(9))).toEqual(new Set([150]));
});

test("after many turns at once, because much waited, events wait no longer than after one", async () => {
  let left = 100;
  const { announce } = start(() => ((left -= 1) > 0 ? FULL : ONE), 30);
  while (left > 0) await pass(1);
  const ended = (began.at(-1) ?? 0) + 30;
  announce();
  await pass(200);
  expect((began[100] ?? 0) - ended).toBeGreaterThan(0);
  expect((began[100] ?? 0) - ended).toBeLessThanOrEqual(100);
});

test("a turn that failed is repeated after half a second, however often events are announced meanwhile", async () => {
  let fails = true;
  const { announce } = start(() => {
    if (fails) throw new Error("no database");
    return NOTHING;
  });
  await pass(100);
  announce();
  await pass(100);
  announce();
  fails = false;
  await pass(400);
  expect(errors).toHaveLength(1);
  expect(began.slice(0, 2)).toEqual([0, 500]);
});

test("no turn begins after it was stopped, and stopping waits for the turn that is under way", async () => {
  const timer = start(() => FULL, 30);
  await pass(10);
  let isStopped = false;
  const stopping = timer.stop().then(() => (isStopped = true));
  timer.announce();
  await pass(10);
  expect(isStopped).toBe(false);
  await pass(200);
  await stopping;
  expect(began).toEqual([0]);
});
