import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ServerEvent } from "@/lib/api-client/events";
import { createChangeStream } from "./change-stream";
import type { Change } from "./changed-keys";

type Sent = ServerEvent<{ readonly changes: readonly Change[] }>;
const change: Change = { kind: "operations", id: "op_1", at: "2026-01-01T00:00:00Z" };
const event = (id: string, ...changes: readonly Change[]): Sent => ({
  id,
  event: "changes",
  data: { changes },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A service whose streams the test feeds. */
const setUp = () => {
  const opened: (string | null)[] = [];
  const states: string[] = [];
  const changes: unknown[] = [];
  const page = { hidden: false };
  let send: (sent: Sent | "fail") => void = () => undefined;
  const open = async function* (
    last: string | null,
    signal: AbortSignal,
  ): AsyncGenerator<Sent> {
    opened.push(last);
    const waiting: (Sent | "fail")[] = [];
    let wake = (): void => undefined;
    send = (sent) => {
      waiting.push(sent);
      wake();
    };
    signal.addEventListener("abort", () => wake());
    for (;;) {
      if (signal.aborted) return;
      const next = waiting.shift();
      if (next === "fail") throw new Error("refused");
      if (next !== undefined) yield next;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  };
  const stream = createChangeStream({
    open,
    onChanges: (some) => changes.push(...some),
    onState: (state) => states.push(state),
    isHidden: () => page.hidden,
    nowMs: () => Date.now(),
  });
  const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);
  return {
    opened,
    states,
    changes,
    page,
    stream,
    pass,
    send: (sent: Sent | "fail") => send(sent),
  };
};

test("a stream that is silent for longer than its heartbeat is down, and is opened again where it left off", async () => {
  const { opened, states, changes, stream, pass, send } = setUp();
  send(event("1.1", change));
  await pass(0);
  expect(states.at(-1)).toBe("live");
  expect(changes).toEqual([change]);
  await pass(20_000);
  expect(states.at(-1)).toBe("down");
  await pass(25_001);
  expect(opened).toEqual([null, "1.1"]);
  send(event("1.2"));
  await pass(0);
  expect(states.at(-1)).toBe("live");
  stream.stop();
});

test("a refused stream is down, and is tried again half a minute later", async () => {
  const { opened, states, stream, pass, send } = setUp();
  send("fail");
  await pass(0);
  expect(states).toEqual(["down"]);
  await pass(29_999);
  expect(opened).toHaveLength(1);
  await pass(1);
  expect(opened).toHaveLength(2);
  stream.stop();
});

test("a hidden page has no stream; when it is seen again the stream goes on", async () => {
  const { opened, page, stream, pass, send } = setUp();
  send(event("3.4"));
  await pass(0);
  page.hidden = true;
  stream.look();
  await pass(300_000);
  expect(opened).toEqual([null]);
  page.hidden = false;
  stream.look();
  await pass(0);
  expect(opened).toEqual([null, "3.4"]);
  stream.stop();
});

test("a page that is hidden for a moment keeps its new stream, which is not called down", async () => {
  const { opened, states, page, stream, pass, send } = setUp();
  send(event("5.1"));
  await pass(0);
  page.hidden = true;
  stream.look();
  page.hidden = false;
  stream.look();
  await pass(0);
  expect(opened).toEqual([null, "5.1"]);
  expect(states).not.toContain("down");
  stream.stop();
});

test("a first stream that opens late makes everything old, because it tells of the last seconds alone", async () => {
  const { changes, stream, pass, send } = setUp();
  await pass(11_000);
  send(event("1.1"));
  await pass(0);
  expect(changes).toEqual([{ kind: "all", id: null }]);
  stream.stop();
});
