import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { abortable } from "./abortable";

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
  const waits = Array.from({ length: 3 }, () =>
    abortable(new Promise(() => undefined), signal),
  );
  const reason = new Error("gone");
  controller.abort(reason);
  expect(await Promise.allSettled(waits)).toEqual(
    waits.map(() => ({ status: "rejected", reason })),
  );
  expect(listeners(signal)).toBe(0);
  await expect(abortable(Promise.resolve(), signal)).rejects.toBe(reason);
});

test("work that fails after its signal aborted before is nobody's error", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  try {
    const reason = new Error("gone");
    await expect(
      abortable(Promise.reject(new Error("refused")), AbortSignal.abort(reason)),
    ).rejects.toBe(reason);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
});
