import { expect, test, vi } from "vitest";
import type { UserActor } from "@/lib/core/actor";
import { manualTicker } from "@/lib/dev/testing/ticker";
import { createBalanceWatch, Subscriber, type Watched } from "./feed";

const actor: UserActor = {
  type: "user",
  userId: "usr_1",
  sessionId: "ses_1",
  projectId: "prj_1",
  role: "viewer",
};
const cursor = { events: 0, audit: 0 };

const setUp = () => {
  const time = manualTicker();
  const now = { ms: 0 };
  const read = vi.fn<(projectId: string) => Promise<string>>();
  const push = vi.fn<Subscriber["push"]>();
  const subscribers = new Set(
    [1, 2].map(() =>
      Object.assign(new Subscriber(actor, () => cursor, vi.fn(), new Date()), { push }),
    ),
  );
  const project: Watched = { projectId: "prj_1", cursor, parked: null, subscribers };
  const watched = new Map([["prj_1", project]]);
  const watch = createBalanceWatch({
    ...{ read, watched, ticker: time.ticker, clock: { now: () => new Date() } },
    monotonicMs: () => now.ms,
  });
  watch.follow();
  /** Runs the next look, which finds these balances. */
  const look = async (balances: Promise<string>, afterMs = 3000): Promise<number> => {
    read.mockReturnValueOnce(balances);
    push.mockClear();
    now.ms += afterMs;
    time.pass(3000);
    await new Promise((resolve) => setImmediate(resolve));
    return push.mock.calls.length;
  };
  return { time, watched, watch, read, look };
};

test("each stream is told of the first look and of changed balances, and each project is read once", async () => {
  const { look, read } = setUp();
  expect(await look(Promise.resolve("1 USDC"))).toBe(2);
  expect(await look(Promise.resolve("1 USDC"))).toBe(0);
  expect(await look(Promise.resolve("2 USDC"))).toBe(2);
  expect(read).toHaveBeenCalledTimes(3);
});

test("balances that cannot be read are no change, and are compared with the last ones that could", async () => {
  const { look } = setUp();
  await look(Promise.resolve("1 USDC"));
  expect(await look(Promise.reject(new Error("The chain does not answer.")))).toBe(0);
  expect(await look(Promise.resolve("1 USDC"))).toBe(0);
});

test("nothing is read while nobody watches, and a page that comes back is told only of a change", async () => {
  const { look, read, watch, watched, time } = setUp();
  await look(Promise.resolve("1 USDC"));
  const [project] = [...watched.values()];
  watched.clear();
  watch.follow();
  expect(time.timers()).toBe(0);
  if (project !== undefined) watched.set("prj_1", project);
  watch.follow();
  expect(await look(Promise.resolve("1 USDC"))).toBe(0);
  expect(read).toHaveBeenCalledTimes(2);
});
