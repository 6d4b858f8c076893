import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import type { ChainRegistry } from "@/lib/chains/registry";
import { abortable, askChain } from "./chain-access";
import { DEFAULT_TUNING } from "./tuning";

const listeners = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

test("any number of waits with one signal cost it one listener, and none once they are over", async () => {
  const { signal } = new AbortController();
  const ends: (() => void)[] = [];
  const waits = Array.from({ length: 50 }, (_, n) =>
    abortable(new Promise<number>((resolve) => ends.push(() => resolve(n))), signal),
  );
  expect(listeners(signal)).toBe(1);
  for (const end of ends.slice(1)) end();
  await Promise.all(waits.slice(1));
  expect(listeners(signal)).toBe(1);
  ends[0]?.();
  expect(await waits[0]).toBe(0);
  expect(listeners(signal)).toBe(0);
  expect(await abortable(Promise.resolve("again"), signal)).toBe("again");
});

test("all of them end with the signal's reason, also one that began after others were over", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  await abortable(Promise.resolve(), signal);
  const waits = Array.from({ length: 3 }, () => abortable(new Promise(() => undefined), signal));
  const reason = new Error("gone");
  controller.abort(reason);
  expect(await Promise.allSettled(waits)).toEqual(waits.map(() => ({ status: "rejected", reason })));
  expect(listeners(signal)).toBe(0);
  await expect(abortable(Promise.resolve(), signal)).rejects.toBe(reason);
});

test("a call that hangs ends at its deadline as an unavailable chain, and leaves no timer", async () => {
  vi.useFakeTimers();
  try {
    const registry = { get: () => ({ name: "Slow" }), client: () => ({}) } as unknown as ChainRegistry;
    const { signal } = new AbortController();
    const tuning = { ...DEFAULT_TUNING, callTimeoutMs: 1000 };
    const late = askChain({ registry, tuning }, 1, signal, () => new Promise(() => undefined));
    const outcome = expect(late).rejects.toMatchObject({
      code: "chain_unavailable",
      message: "Slow did not answer within 1000 ms. Nothing was sent; try again shortly.",
    });
    await vi.advanceTimersByTimeAsync(1000);
    await outcome;
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
