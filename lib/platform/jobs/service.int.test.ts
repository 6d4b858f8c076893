import { afterAll, expect, test, vi } from "vitest";
import { createListener } from "@/lib/platform/db/listener";
import { testDatabase } from "@/lib/dev/testing/database";
import { systemClock } from "@/lib/core/clock";
import { sqlOn } from "@/lib/platform/db/sql";
import { DomainError } from "@/lib/core/errors";
import { createHandover, type JobHandler, type JobRunner, startJobRunner } from "./service";
import { createParkedJobs } from "@/lib/news/parked-jobs/service";
import { createJobsRepository, insertJobOn } from "./repository";

const { url, database } = await testDatabase();
const repository = createJobsRepository(database);
const listener = createListener(url);
const log = { warn: () => undefined, error: () => undefined };
const runners: JobRunner[] = [];
afterAll(async () => {
  await Promise.all(runners.map((runner) => runner.stop()));
  await listener.close();
});

const addJob = async (id: string, queue: string): Promise<void> => {
  await database.prisma.job.create({ data: { id, queue, runAt: new Date() } });
};

/** Longer than any test, so that no worker of a busy machine loses a lease. */
const LEASE_MS = 120_000;

const start = (workerId: string, queue: string, handler: JobHandler): JobRunner => {
  const options = { leaseMs: LEASE_MS, heartbeatMs: 1_000, pollMs: 100, concurrency: 20 };
  const runner = startJobRunner({
    repository,
    handlers: { [queue]: handler },
    workerId,
    listener,
    log,
    options,
  });
  runners.push(runner);
  return runner;
};

const isGone = async (id: string): Promise<void> => {
  expect(await database.prisma.job.findUnique({ where: { id } })).toBeNull();
};

test("with two instances each job runs once, on one of them", async () => {
  const runs = new Map<string, number>();
  const handler: JobHandler = (id) => {
    runs.set(id, (runs.get(id) ?? 0) + 1);
    return Promise.resolve({ done: true });
  };
  const ids = Array.from({ length: 60 }, (_, index) => `both-${String(index)}`);
  await Promise.all(ids.map((id) => addJob(id, "both")));
  const pair = [start("one", "both", handler), start("two", "both", handler)];
  await vi.waitFor(
    async () => expect(await database.prisma.job.count({ where: { queue: "both" } })).toBe(0),
    20_000,
  );
  expect([...runs.values()]).toEqual(ids.map(() => 1));
  await Promise.all(pair.map((runner) => runner.stop()));
});

/** Lease times are Postgres's, so the test moves the end of the lease instead of the clock. */
const endLease = async (id: string): Promise<void> => {
  await database.prisma.job.update({ where: { id }, data: { lockedUntil: new Date(0) } });
};

test("the job of a dead worker is taken over when its lease expires, and not before", async () => {
  await addJob("orphan", "takeover");
  const leaseMs = 3_600_000;
  const claimed = await repository.claim({
    workerId: "dead",
    leaseMs,
    limit: 10,
    queues: ["takeover"],
  });
  expect(claimed.map(({ id }) => id)).toContain("orphan");
  const [lease] = await database.prisma.$queryRaw<{ isHeld: boolean }[]>`
    SELECT locked_until > now() AND locked_until <= now() + interval '1 hour' AS "isHeld" FROM job WHERE id = 'orphan'`;
  expect(lease?.isHeld).toBe(true);
  const runs: string[] = [];
  const runner = start("heir", "takeover", (id) => {
    runs.push(id);
    return Promise.resolve({ done: true });
  });
  // Due later than the orphan, so a worker that claims both runs the orphan first.
  await addJob("later", "takeover");
  await vi.waitFor(() => isGone("later"), 15_000);
  expect(runs).toEqual(["later"]);
  await endLease("orphan");
  await vi.waitFor(() => isGone("orphan"), 15_000);
  expect(runs).toEqual(["later", "orphan"]);
  await runner.stop();
});

test("a worker leaves a job of a queue that it does not know to the workers of a newer version", async () => {
  const older = start("older", "known", () => Promise.resolve({ done: true }));
  await addJob("of-next-version", "next");
  // This job is due later, so a worker that claims both jobs has claimed the other job when this
  // one is gone.
  await addJob("of-both", "known");
  await vi.waitFor(() => isGone("of-both"), 15_000);
  await older.stop();
  const left = await database.prisma.job.findUniqueOrThrow({
    where: { id: "of-next-version" },
  });
  expect(left).toMatchObject({ attempts: 0, failures: 0, lockedBy: null, lastError: null });
  const newer = start("newer", "next", () => Promise.resolve({ done: true }));
  await vi.waitFor(() => isGone("of-next-version"), 15_000);
  await newer.stop();
});

test("a job that is not done runs again, and a job that throws is retried", async () => {
  await addJob("again", "again");
  let turns = 0;
  const runner = start("patient", "again", () => {
    turns += 1;
    if (turns === 1) throw new Error("not yet");
    return Promise.resolve(turns < 3 ? { done: false, againInMs: 10 } : { done: true });
  });
  await vi.waitFor(() => isGone("again"), 15_000);
  expect(turns).toBe(3);
  await runner.stop();
});

/** Runs a job until it is parked, without its pauses. */
const runToEnd = async (id: string, queue: string, handler: JobHandler): Promise<number> => {
  await addJob(id, queue);
  let turns = 0;
  const counted: JobHandler = (...input) => {
    turns += 1;
    return handler(...input);
  };
  const runner = start(`worker of ${queue}`, queue, counted);
  const due = () =>
    database.prisma.job.updateMany({
      where: { id, lockedBy: null },
      data: { runAt: new Date() },
    });
  await vi.waitFor(
    async () => {
      await due();
      const row = await database.prisma.job.findUniqueOrThrow({ where: { id } });
      expect(row.parkedAt ?? (turns > 60 ? "enough" : null)).not.toBeNull();
    },
    { timeout: 60_000, interval: 20 },
  );
  // No worker takes a parked job, even when it is due.
  await due();
  await runner.stop();
  return turns;
};

test("a job that failed fifty times is parked with its last error, and runs again once it is put back", async () => {
  const error = new Error("its row is broken");
  expect(await runToEnd("bad", "bad", () => Promise.reject(error))).toBe(50);
  expect(
    await repository.claim({ workerId: "somebody", leaseMs: 1000, limit: 10, queues: ["bad"] }),
  ).toEqual([]);
  expect(await repository.overdue(0)).toBe(0);
  const parked = createParkedJobs({ database, clock: systemClock });
  expect(await parked.all()).toMatchObject([
    { id: "bad", queue: "bad", projectId: null, failures: 50, lastError: "its row is broken" },
  ]);
  expect(await parked.resumeAll(["bad", "unknown"])).toBe(1);
  const runner = start("mended", "bad", () => Promise.resolve({ done: true }));
  await vi.waitFor(() => isGone("bad"), 15_000);
  await runner.stop();
});

test("a turn that the handler reports as failed counts as one that throws", async () => {
  const turn = { done: false, againInMs: 0, failure: "every leg failed" } as const;
  expect(await runToEnd("reported", "reported", () => Promise.resolve(turn))).toBe(50);
  await database.prisma.job.delete({ where: { id: "reported" } });
});

test("a job that an outage holds up waits longer, and is never parked; a turn that works begins the count anew", async () => {
  const outage = new DomainError("chain_unavailable", "No answer.");
  expect(await runToEnd("outage", "outage", () => Promise.reject(outage))).toBeGreaterThan(60);
  const { failures, parkedAt } = await database.prisma.job.findUniqueOrThrow({
    where: { id: "outage" },
  });
  expect([failures, parkedAt]).toEqual([10, null]);
  await database.prisma.job.update({ where: { id: "outage" }, data: { runAt: new Date() } });
  const runner = start("back", "outage", () =>
    Promise.resolve({ done: false, againInMs: 60_000 }),
  );
  await vi.waitFor(async () => {
    expect(
      await database.prisma.job.findUniqueOrThrow({ where: { id: "outage" } }),
    ).toMatchObject({
      failures: 0,
      lastError: null,
    });
  }, 15_000);
  await runner.stop();
  await database.prisma.job.delete({ where: { id: "outage" } });
});

test("a stopping worker lets its jobs finish and releases their leases", async () => {
  await addJob("long", "long");
  const runner = start("leaving", "long", async (_id, signal) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    return { done: false, againInMs: 0 };
  });
  await vi.waitFor(async () => {
    expect((await database.prisma.job.findUnique({ where: { id: "long" } }))?.lockedBy).toBe(
      "leaving",
    );
  }, 20_000);
  await runner.stop();
  expect(
    (await database.prisma.job.findUnique({ where: { id: "long" } }))?.lockedBy,
  ).toBeNull();
});

test("a job that was stored for the worker of the process runs on it, and one that was not stored leaves its place", async () => {
  const handover = createHandover();
  expect(handover.take()).toBeNull();
  const runs: string[] = [];
  const handler: JobHandler = (id) => {
    runs.push(id);
    return Promise.resolve({ done: true });
  };
  const options = { leaseMs: LEASE_MS, pollMs: 3_600_000, concurrency: 2 };
  const own = startJobRunner({
    repository,
    handlers: { own: handler },
    workerId: "own",
    listener,
    handover,
    log,
    options,
  });
  runners.push(own);
  // The worker accepts no job before its first claim.
  const place = await vi.waitFor(
    () => handover.take() ?? Promise.reject(new Error("Not yet.")),
    20_000,
  );
  const other = handover.take();
  expect(handover.take()).toBeNull();
  other?.leave();
  const job = { id: "own-1", queue: "own", runAt: new Date() };
  await insertJobOn(sqlOn(database.pool), job, place);
  // The job was stored with the lease of this worker, so another worker finds nothing to claim.
  expect(
    await repository.claim({ workerId: "another", leaseMs: 1000, limit: 10, queues: ["own"] }),
  ).toEqual([]);
  place.run({ id: job.id, queue: job.queue, traceparent: null, failures: 0 });
  await vi.waitFor(() => isGone("own-1"), 20_000);
  expect(runs).toEqual(["own-1"]);
  await own.stop();
  expect(handover.take()).toBeNull();
});
