import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import type { Status } from "@/lib/core/status";
import type { Database } from "@/lib/platform/db/client";
import { testDatabase } from "@/lib/dev/testing/database";
import { manualTicker } from "@/lib/dev/testing/ticker";
import {
  appendEvent,
  createEventRepository,
  type EventRepository,
  lockOperation,
} from "./state-repository";
import { createWatching } from "./watching";

const POLL_MS = 2000;
const projectId = newId("project");
let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
  await database.prisma.project.create({
    data: { id: projectId, name: "P", createdAt: new Date() },
  });
});

const newOperation = async (): Promise<string> => {
  const [id, now] = [newId("operation"), new Date()];
  const rest = { request: {}, quoted: {}, minimumBase: 0, createdBy: "test", searchTerms: [] };
  const times = { createdAt: now, updatedAt: now };
  await database.prisma.operation.create({
    data: {
      id,
      projectId,
      kind: "swap",
      status: "pending",
      subStatus: "prepared",
      ...rest,
      ...times,
    },
  });
  return id;
};

/**
 * Appends events in one transaction, and ends the operation with the last one when a status is
 * given.
 */
const append = (operationId: string, count: number, status?: Status): Promise<void> =>
  database.transaction(async (tx) => {
    await lockOperation(tx, { projectId, id: operationId });
    for (let event = 0; event < count; event += 1)
      await appendEvent(tx, {
        projectId,
        operationId,
        type: "test",
        data: { event },
        now: new Date(),
      });
    if (status !== undefined)
      await tx.operation.update({ where: { id: operationId }, data: { status } });
  });

/** The streams of one instance, with a counter of queries. Only the test sends notifications. */
const instance = () => {
  const real = createEventRepository(database);
  const events: EventRepository = {
    eventsAfter: vi.fn<EventRepository["eventsAfter"]>((cursors, limit) =>
      real.eventsAfter(cursors, limit),
    ),
    withNews: vi.fn<EventRepository["withNews"]>((cursors) => real.withNews(cursors)),
  };
  const handlers = new Set<(payload: string) => void>();
  const listener = {
    on: (_channel: string, handler: (payload: string) => void) => {
      handlers.add(handler);
      return () => handlers.delete(handler);
    },
  };
  const time = manualTicker();
  const { watch } = createWatching({ events, ticker: time.ticker, listener });
  const leaving = new AbortController();
  const notify = (id: string): void => {
    for (const handler of handlers) handler(id);
  };
  const queries = () => ({
    reads: vi.mocked(events.eventsAfter).mock.calls.length,
    polls: vi.mocked(events.withNews).mock.calls.length,
  });
  /** Waits until the streams have asked this many times for events, and have all answers. */
  const answered = async (reads: number): Promise<void> => {
    await vi.waitFor(() => expect(queries().reads).toBe(reads), 20_000);
    await Promise.all(
      vi.mocked(events.eventsAfter).mock.results.map(({ value }) => value as unknown),
    );
  };
  /** Waits for the running polls. */
  const polled = async (): Promise<void> => {
    await Promise.all(
      vi.mocked(events.withNews).mock.results.map(({ value }) => value as unknown),
    );
  };
  /** Reads a stream to its end, in the background. */
  const follow = (operationId: string, afterSeq = 0, paceMs = 0) => {
    const seen: number[] = [];
    const done = (async () => {
      // Each stream has its own abort signal, as each request has.
      for await (const { seq } of watch(
        operationId,
        afterSeq,
        AbortSignal.any([leaving.signal]),
      )) {
        seen.push(seq);
        if (paceMs > 0) await sleep(paceMs);
      }
    })();
    return { seen, done };
  };
  return {
    watch,
    follow,
    notify,
    queries,
    answered,
    polled,
    listeners: () => handlers.size,
    leave: () => leaving.abort(),
    ...time,
  };
};

const upTo = (last: number, after = 0): number[] =>
  Array.from({ length: last - after }, (_, index) => after + index + 1);

test("400 idle streams of 400 operations cost one timer, one listener and one query for each poll, and none once they left", async () => {
  const { follow, queries, polled, timers, listeners, pass, leave } = instance();
  const ids = await Promise.all(Array.from({ length: 400 }, newOperation));
  const streams = ids.map((id) => follow(id));
  await vi.waitFor(() => expect(queries()).toEqual({ reads: 1, polls: 0 }), 20_000);
  expect([timers(), listeners()]).toEqual([1, 1]);
  for (let polls = 1; polls <= 5; polls += 1) {
    pass(POLL_MS);
    await vi.waitFor(() => expect(queries()).toEqual({ reads: 1, polls }), 20_000);
    await polled();
  }
  leave();
  await Promise.all(streams.map(({ done }) => done));
  expect([timers(), listeners()]).toEqual([0, 0]);
  pass(10 * POLL_MS);
  expect(queries()).toEqual({ reads: 1, polls: 5 });
});

test("what one poll finds for many operations is read with one query, and goes to every stream once and in order", async () => {
  const { follow, queries, answered, pass, leave } = instance();
  const ids = await Promise.all(Array.from({ length: 20 }, newOperation));
  const streams = ids.flatMap((id) => Array.from({ length: 10 }, () => follow(id)));
  // A first read that is still under way could find the events that follow.
  await answered(1);
  await Promise.all(ids.map((id) => append(id, 3)));
  pass(POLL_MS);
  await vi.waitFor(() => {
    for (const { seen } of streams) expect(seen).toEqual([1, 2, 3]);
  }, 20_000);
  expect(queries()).toEqual({ reads: 2, polls: 1 });
  await Promise.all(ids.map((id) => append(id, 1, "completed")));
  pass(POLL_MS);
  await Promise.all(streams.map(({ done }) => done));
  for (const { seen } of streams) expect(seen).toEqual([1, 2, 3, 4]);
  expect(queries()).toEqual({ reads: 3, polls: 2 });
  leave();
});

test("a notification wakes the streams of its operation alone, without a poll", async () => {
  const { follow, notify, queries, answered, leave } = instance();
  const [one, other] = [await newOperation(), await newOperation()];
  const streams = [follow(one), follow(other)];
  await answered(1);
  await Promise.all([append(one, 2), append(other, 2)]);
  notify(one);
  await vi.waitFor(() => expect(streams[0]?.seen).toEqual([1, 2]), 20_000);
  expect(streams[1]?.seen).toEqual([]);
  expect(queries()).toEqual({ reads: 2, polls: 0 });
  leave();
  await Promise.all(streams.map(({ done }) => done));
});

test("streams that resume anywhere, join late or read slowly get all of many pages once and in order", async () => {
  const { follow, notify } = instance();
  const id = await newOperation();
  await append(id, 250);
  const early = [0, 1, 99, 100, 101, 249, 250].map((afterSeq) => ({
    afterSeq,
    ...follow(id, afterSeq),
  }));
  const slow = { afterSeq: 0, ...follow(id, 0, 1) };
  const writing = (async () => {
    for (let round = 0; round < 20; round += 1) {
      await append(id, 10);
      notify(id);
    }
  })();
  await vi.waitFor(() => expect(early[0]?.seen.length).toBeGreaterThan(250), 20_000);
  const late = [300, 0].map((afterSeq) => ({ afterSeq, ...follow(id, afterSeq) }));
  await writing;
  await append(id, 1, "completed");
  notify(id);
  const all = [...early, ...late, slow];
  await Promise.all(all.map(({ done }) => done));
  for (const { afterSeq, seen } of all) expect(seen).toEqual(upTo(451, afterSeq));
});

test("a stream of an operation that is final gives the rest and ends; one that read all ends at once", async () => {
  const { follow } = instance();
  const id = await newOperation();
  await append(id, 120, "failed");
  const streams = [follow(id, 0), follow(id, 120), follow(id, 500)];
  await Promise.all(streams.map(({ done }) => done));
  expect(streams.map(({ seen }) => seen.length)).toEqual([120, 0, 0]);
});

test("when events cannot be read the streams that wait for them break; others go on", async () => {
  const time = manualTicker();
  const broken: EventRepository = {
    eventsAfter: () => Promise.reject(new Error("away")),
    withNews: () => Promise.resolve([]),
  };
  const { watch } = createWatching({
    events: broken,
    ticker: time.ticker,
    listener: { on: () => () => undefined },
  });
  const stream = watch(newId("operation"), 0, new AbortController().signal);
  await expect(stream.next()).rejects.toMatchObject({ cause: { message: "away" } });
  expect(time.timers()).toBe(0);
});
