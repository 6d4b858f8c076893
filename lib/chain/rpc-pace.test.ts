import { RpcRequestError } from "viem";
import { expect, test } from "vitest";
import { RATE_LIMITED } from "./node-errors";
import { createRpcPace } from "./rpc-transport";

const limited = () =>
  new RpcRequestError({
    url: "http://node",
    body: {},
    error: { code: RATE_LIMITED, message: "limit exceeded" },
  });

/**
 * A node that answers `perSecond` calls a second, by its own clock, which advances while everybody
 * waits.
 */
const node = (perSecond: number) => {
  let now = 0;
  let calls = 0;
  const answered: number[] = [];
  const waiting: { readonly at: number; readonly go: () => void }[] = [];
  return {
    monotonicMs: () => now,
    pause: (ms: number) => new Promise<void>((go) => waiting.push({ at: now + ms, go })),
    call: (name: number): Promise<number> => {
      calls += 1;
      const recent = answered.filter((at) => at > now - 1000).length;
      if (recent >= perSecond) return Promise.reject(limited());
      answered.push(now);
      return Promise.resolve(name);
    },
    calls: () => calls,
    /** Advances the clock from one waiting call to the next until `done` settles. */
    until: async <T>(done: Promise<T>): Promise<T> => {
      const state = { isDone: false };
      void done.finally(() => (state.isDone = true)).catch(() => undefined);
      for (;;) {
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
        if (state.isDone) return done;
        waiting.sort((a, b) => a.at - b.at);
        const next = waiting.shift();
        if (next === undefined) throw new Error("Nobody waits, and nothing is done.");
        now = Math.max(now, next.at);
        next.go();
      }
    },
  };
};

test("calls above a node's rate are sent again later, and all of them are answered, in few more calls than there are", async () => {
  const slow = node(20);
  const pace = createRpcPace({ ...slow, tries: 6, refusal: limited });
  const names = Array.from({ length: 60 }, (_, name) => name);
  for (let from = 0; from < names.length; from += 12) {
    const part = names.slice(from, from + 12);
    expect(
      await slow.until(Promise.all(part.map((name) => pace.run(() => slow.call(name))))),
    ).toEqual(part);
  }
  expect(slow.calls()).toBeLessThan(1.5 * names.length);
});

test("a node in whose place another one can be asked is asked once, and not at all while it is slowed down", async () => {
  const slow = node(0);
  const pace = createRpcPace({ ...slow, tries: 1, refusal: limited });
  for (const name of [1, 2, 3])
    await expect(pace.run(() => slow.call(name))).rejects.toMatchObject({ code: RATE_LIMITED });
  expect(slow.calls()).toBe(1);
});

test("an error of another kind is thrown at once, and slows nothing down", async () => {
  const slow = node(100);
  const pace = createRpcPace({ ...slow, tries: 3, refusal: limited });
  await expect(pace.run(() => Promise.reject(new Error("reverted")))).rejects.toThrow(
    "reverted",
  );
  expect(await pace.run(() => slow.call(7))).toBe(7);
});
