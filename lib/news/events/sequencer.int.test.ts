import { beforeEach, expect, test, vi } from "vitest";
import { type Announcement, sqlOn } from "@/lib/platform/db/sql";
import { createDatabase } from "@/lib/platform/db/client";
import { testDatabase } from "@/lib/dev/testing/database";
import { randomOf } from "@/lib/dev/testing/random";
import { listEvents, OUTBOX_CHANNEL, sequenceProject } from "./repository";
import type { EventRow, SequencedRange } from "./rows";
import { createSequencer } from "./sequencer";
import { type NewEvent, recordEvents, recordEventsOn } from "./service";

const { url, database } = await testDatabase({ role: "owner" });
const sql = sqlOn(database.pool);
const log = { warn: () => undefined };

beforeEach(async () => {
  await database.pool.query("TRUNCATE event, event_outbox, event_counter");
});

const sequencer = (
  fanOut: (ranges: readonly SequencedRange[]) => Promise<void> = () => Promise.resolve(),
) =>
  createSequencer({
    sql,
    transaction: (work) => database.rawTransaction(work),
    fanOut: async (_tx, ranges) => {
      await fanOut(ranges);
      return 0;
    },
    log,
    listener: { on: () => () => undefined },
  });

const eventOf = (projectId: string, objectId: string, n: number): NewEvent => ({
  projectId,
  type: "operation.processing",
  objectId,
  data: { n },
  at: new Date(),
});
const all = (projectId: string): Promise<readonly EventRow[]> =>
  listEvents(sql, { projectId, after: 0, limit: 10_000 });
const upTo = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => index + 1);

test("numbers have no gap and no double, whatever is rolled back and however many number at once", async () => {
  const random = randomOf(5);
  const projects = ["prj_a", "prj_b", "prj_c"];
  const committed = new Map(projects.map((project) => [project, 0]));
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    for (let turn = 0; turn < 40; turn += 1) {
      const project = projects[Math.floor(random() * projects.length)] ?? "prj_a";
      const fails = random() < 0.3;
      // Each writer uses separate objects, because a writer locks the rows of its objects.
      const events = [
        eventOf(project, `op_${String(writer)}`, turn),
        eventOf(project, `tr_${String(writer)}`, turn),
      ];
      await database
        .rawTransaction(async (tx) => {
          await recordEventsOn(tx, events);
          if (fails) throw new Error("rolled back");
        })
        .catch(() => undefined);
      if (!fails) committed.set(project, (committed.get(project) ?? 0) + events.length);
    }
  };
  const number = async (): Promise<void> => {
    const one = sequencer();
    while (!isOver) {
      await one.drain();
      await new Promise(setImmediate);
    }
  };
  const numbering = [number(), number(), number()];
  await Promise.all(Array.from({ length: 4 }, (_, writer) => write(writer)));
  isOver = true;
  await Promise.all(numbering);
  await sequencer().drain();
  for (const project of projects) {
    const events = await all(project);
    expect(events.map(({ sequence }) => sequence)).toEqual(upTo(committed.get(project) ?? 0));
    for (const object of new Set(events.map(({ objectId }) => objectId))) {
      const own = events.filter(({ objectId }) => objectId === object);
      expect(own.map(({ objectSequence }) => objectSequence)).toEqual(upTo(own.length));
      const written = own.map(({ payload }) => Number(payload.n));
      expect(written).toEqual([...written].sort((one, other) => one - other));
    }
  }
});

test("an event that commits later than one that was begun after it gets the later number, and none is left out", async () => {
  const [slow, fast] = [await database.pool.connect(), await database.pool.connect()];
  try {
    await slow.query("BEGIN");
    await recordEventsOn(sqlOn(slow), [eventOf("prj_s", "op_slow", 0)]);
    await fast.query("BEGIN");
    await recordEventsOn(sqlOn(fast), [eventOf("prj_s", "op_fast", 0)]);
    await fast.query("COMMIT");
    await sequencer().drain();
    expect((await all("prj_s")).map(({ objectId }) => objectId)).toEqual(["op_fast"]);
    await slow.query("COMMIT");
    await sequencer().drain();
    expect((await all("prj_s")).map(({ objectId, sequence }) => [objectId, sequence])).toEqual([
      ["op_fast", 1],
      ["op_slow", 2],
    ]);
  } finally {
    // Transactions that a failure left open end with their connections.
    slow.release(true);
    fast.release(true);
  }
});

/** Numbering on one server, and as on a cluster, which this server simulates. */
const WAYS = [
  ["together", () => sequencer().drain()],
  [
    "project by project",
    () =>
      database.rawTransaction(async (tx) => {
        while ((await sequenceProject(tx, { projectId: "prj_t", limit: 2 })) !== null);
      }),
  ],
] as const;

test.each(WAYS)(
  "an event is never older than the one before it, whatever the writers' clocks said (%s)",
  async (_, number) => {
    const from = Date.UTC(2026, 0, 1);
    const write = (objectId: string, seconds: readonly number[]): Promise<void> =>
      database.rawTransaction((tx) =>
        recordEventsOn(
          tx,
          seconds.map((second, n) => ({
            ...eventOf("prj_t", objectId, n),
            at: new Date(from + second * 1000),
          })),
        ),
      );
    const times = async (): Promise<number[]> =>
      (await all("prj_t")).map(({ createdAt }) => (createdAt.getTime() - from) / 1000);
    // One instance's clock is a minute ahead of the other's, and the instance with the slow clock
    // commits last.
    await write("op_1", [70, 60]);
    await write("tr_1", [5, 80, 81]);
    await number();
    expect(await times()).toEqual([70, 70, 70, 80, 81]);
    await write("op_1", [20, 90]);
    await write("op_2", [21]);
    await number();
    expect(await times()).toEqual([70, 70, 70, 80, 81, 81, 90, 90]);
    expect((await all("prj_t")).map(({ sequence }) => sequence)).toEqual(upTo(8));
    expect((await all("prj_t")).map(({ objectSequence }) => objectSequence)).toEqual([
      1, 2, 1, 2, 3, 3, 4, 1,
    ]);
  },
);

test("what fails while numbers are given takes none, and is numbered the next time", async () => {
  await database.rawTransaction((tx) =>
    recordEventsOn(tx, [eventOf("prj_f", "op_1", 0), eventOf("prj_f", "op_1", 1)]),
  );
  await expect(
    sequencer(() => Promise.reject(new Error("no fan-out"))).drain(),
  ).rejects.toThrow("no fan-out");
  expect(await all("prj_f")).toEqual([]);
  const told: SequencedRange[] = [];
  await sequencer((ranges) => Promise.resolve(void told.push(...ranges))).drain();
  expect(told).toEqual([{ projectId: "prj_f", from: 1, to: 2 }]);
  expect((await all("prj_f")).map(({ sequence }) => sequence)).toEqual([1, 2]);
});

test("one project's flood is numbered in parts, and no other project waits for its end", async () => {
  const flood = upTo(1200).map((n) => eventOf("prj_flood", `op_${String(n)}`, n));
  await database.rawTransaction((tx) =>
    recordEventsOn(tx, [...flood, eventOf("prj_small", "op_x", 0)]),
  );
  const turns: SequencedRange[][] = [];
  await sequencer((ranges) => Promise.resolve(void turns.push([...ranges]))).drain();
  expect(turns.flat().slice(0, 2)).toEqual([
    { projectId: "prj_flood", from: 1, to: 500 },
    { projectId: "prj_small", from: 1, to: 1 },
  ]);
  expect(
    turns
      .flat()
      .filter(({ projectId }) => projectId === "prj_flood")
      .at(-1)?.to,
  ).toBe(1200);
});

test("more projects than one turn takes are all numbered", async () => {
  const events = upTo(250).map((n) => eventOf(`prj_${String(n).padStart(4, "0")}`, "op_1", n));
  await database.rawTransaction((tx) => recordEventsOn(tx, events));
  const seen = new Set<string>();
  const note = (ranges: readonly SequencedRange[]): Promise<void> => {
    for (const { projectId } of ranges) seen.add(projectId);
    return Promise.resolve();
  };
  await sequencer(note).drain();
  expect(seen.size).toBe(250);
});

test("a started sequencer finds events by itself, and stops", async () => {
  const running = sequencer().start();
  await database.rawTransaction((tx) => recordEventsOn(tx, [eventOf("prj_live", "op_1", 0)]));
  await vi.waitFor(async () => expect(await all("prj_live")).toHaveLength(1), {
    timeout: 10_000,
    interval: 20,
  });
  await running.stop();
});

test("only this process is told of events that were committed, by whichever kind of transaction, and of none that was rolled back", async () => {
  const told: Announcement[] = [];
  const own = createDatabase(url, {
    poolSize: 1,
    onAnnounced: (announced) => told.push(...announced),
  });
  const event = eventOf("prj_told", "op_1", 0);
  const outbox = { channel: OUTBOX_CHANNEL, payload: "", isLocal: true };
  try {
    await own.rawTransaction((tx) => recordEventsOn(tx, [event]));
    expect(told.splice(0)).toEqual([outbox]);
    await own.transaction((tx) => recordEvents(tx, [event]));
    expect(told.splice(0)).toEqual([outbox]);
    const rolledBack = own.transaction(async (tx) => {
      await recordEvents(tx, [event]);
      throw new Error("rolled back");
    });
    await expect(rolledBack).rejects.toThrow("rolled back");
    await own.rawTransaction((tx) => recordEventsOn(tx, []));
    expect(told).toEqual([]);
  } finally {
    await own.close();
  }
});

test("an announcement begins a turn long before the next one is due", async () => {
  let announce: () => void = () => undefined;
  const listener = {
    on: (channel: string, handler: (payload: string) => void) => {
      expect(channel).toBe(OUTBOX_CHANNEL);
      announce = () => handler("");
      return () => undefined;
    },
  };
  const deps = {
    sql,
    log,
    listener,
    transaction: database.rawTransaction,
    fanOut: () => Promise.resolve(3),
  };
  const sequenced: unknown[] = [];
  const onSequenced = (...given: unknown[]): void => void sequenced.push(given);
  const running = createSequencer({
    ...deps,
    onSequenced,
    options: { pollMs: 3_600_000 },
  }).start();
  try {
    await database.rawTransaction((tx) => recordEventsOn(tx, [eventOf("prj_soon", "op_1", 0)]));
    await vi.waitFor(
      () => {
        announce();
        expect(sequenced).toContainEqual([[{ projectId: "prj_soon", from: 1, to: 1 }], 3]);
      },
      { timeout: 10_000, interval: 20 },
    );
  } finally {
    await running.stop();
  }
});
