import { expect, test, vi } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { createIdempotencyKeyStore, type IdempotencyKeyStore } from "./idempotency-keys";
import { createInstances } from "./instances";
import { createLiveClaims } from "./live-claims";
import { createPool } from "./pool";
import { afterFile } from "@/lib/dev/testing/after-file";

const route = { projectId: "prj_1", actor: "key_1", route: "POST /things" };

/** Slow enough that an instance on a busy machine does not miss five beats. */
const BEAT_MS = 250;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const { url, database } = await testDatabase();
const rows = createIdempotencyKeyStore(database);

/**
 * An instance whose beats can be stopped (as by a kill or a freeze), and whose store can be made
 * unavailable.
 */
const startInstance = async (id: string) => {
  const pool = createPool(url, { max: 1 });
  const state = { isAway: false, isFrozen: false, failed: 0 };
  const query = pool.query.bind(pool) as (...parts: unknown[]) => Promise<unknown>;
  const own = Object.create(pool) as typeof pool;
  own.query = ((...parts: unknown[]) => {
    if (!state.isFrozen) return query(...parts);
    state.failed += 1;
    return Promise.reject(new Error("frozen"));
  }) as typeof pool.query;
  const instances = createInstances({
    pool: own,
    id,
    onTime: () => undefined,
    beatMs: BEAT_MS,
  });
  const guard =
    <Input, Output>(work: (input: Input) => Promise<Output>) =>
    (input: Input): Promise<Output> =>
      state.isAway ? Promise.reject(new Error("the database is away")) : work(input);
  const store: IdempotencyKeyStore = {
    ...rows,
    claim: guard(rows.claim),
    complete: guard(rows.complete),
    release: guard(rows.release),
  };
  const claims = createLiveClaims({ database, store, instances });
  await instances.start();
  afterFile(async () => {
    await instances.close();
    await pool.end();
  });
  const claim = (
    key: string,
    holder: string,
    options: { digest?: string; atMs?: number } = {},
  ) => {
    const at = Date.now() + (options.atMs ?? 0);
    return claims.claim({
      ...route,
      key,
      holder,
      digest: Buffer.from(options.digest ?? "a"),
      now: new Date(at),
      lockedUntil: new Date(at + 60_000),
      expiresAt: new Date(at + 2 * YEAR_MS),
    });
  };
  const entry = (key: string, holder: string) => ({ ...route, key, holder });
  return { id, claims, claim, entry, state, instances };
};

const [one, two] = await Promise.all([startInstance("one"), startInstance("two")]);
const newKey = (): string => crypto.randomUUID();

test("a slow request of a living process keeps its claim however much time passes, here and elsewhere", async () => {
  const key = newKey();
  expect(await one.claim(key, "slow")).toBeNull();
  expect((await one.claim(key, "again", { atMs: YEAR_MS }))?.status).toBe("in_flight");
  expect((await two.claim(key, "again", { atMs: YEAR_MS }))?.status).toBe("in_flight");
  await one.claims.complete({ ...one.entry(key, "slow"), response: { done: true } });
  expect((await two.claim(key, "later"))?.response).toEqual({ done: true });
});

test("a process that is killed leaves its claims to whoever asks next, once and not before it is missed", async () => {
  const victim = await startInstance("victim");
  const key = newKey();
  expect(await victim.claim(key, "dead")).toBeNull();
  expect((await two.claim(key, "early"))?.status).toBe("in_flight");
  victim.state.isFrozen = true;
  await vi.waitFor(async () => expect(await two.claim(key, "heir")).toBeNull(), {
    timeout: 20_000,
    interval: BEAT_MS,
  });
  expect((await one.claim(key, "third"))?.status).toBe("in_flight");
  await victim.claims.complete({ ...victim.entry(key, "dead"), response: { late: true } });
  await two.claims.complete({ ...two.entry(key, "heir"), response: { right: true } });
  expect((await one.claim(key, "fourth"))?.response).toEqual({ right: true });
});

test("of many that ask for a dead process's claim at once exactly one gets it", async () => {
  const victim = await startInstance("victim of many");
  const key = newKey();
  await victim.claim(key, "dead");
  victim.state.isFrozen = true;
  await vi.waitFor(
    async () => expect(await two.instances.isGone("victim of many")).toBe(true),
    20_000,
  );
  await vi.waitFor(
    async () => expect(await one.instances.isGone("victim of many")).toBe(true),
    20_000,
  );
  const asked = await Promise.all(
    [one, two].flatMap((instance) =>
      Array.from({ length: 20 }, (_, index) =>
        instance.claim(key, `${instance.id} ${String(index)}`),
      ),
    ),
  );
  expect(asked.filter((found) => found === null)).toHaveLength(1);
});

test("a process that leaves in order leaves its claims at once", async () => {
  const leaver = await startInstance("leaver");
  const key = newKey();
  await leaver.claim(key, "left");
  await leaver.instances.close();
  await vi.waitFor(async () => expect(await two.claim(key, "heir")).toBeNull(), 20_000);
});

test("another body does not take a dead process's claim over", async () => {
  const victim = await startInstance("victim of another body");
  const key = newKey();
  await victim.claim(key, "dead");
  victim.state.isFrozen = true;
  await vi.waitFor(
    async () => expect(await two.instances.isGone("victim of another body")).toBe(true),
    20_000,
  );
  expect((await two.claim(key, "other", { digest: "b" }))?.digest.toString()).toBe("a");
});

test("how a request ended is stored when the database is back, and until then nobody runs it again", async () => {
  const [failed, done] = [newKey(), newKey()];
  await Promise.all([one.claim(failed, "f"), one.claim(done, "d")]);
  one.state.isAway = true;
  await expect(one.claims.release(one.entry(failed, "f"))).rejects.toThrow("away");
  await expect(
    one.claims.complete({ ...one.entry(done, "d"), response: { kept: 1 } }),
  ).rejects.toThrow("away");
  expect((await two.claim(done, "other"))?.status).toBe("in_flight");
  one.state.isAway = false;
  await vi.waitFor(async () => expect(await two.claim(failed, "retry")).toBeNull(), 20_000);
  await vi.waitFor(
    async () => expect((await two.claim(done, "retry"))?.response).toEqual({ kept: 1 }),
    20_000,
  );
});

test("the same process takes its own ended request over at once", async () => {
  const [failed, done] = [newKey(), newKey()];
  await Promise.all([one.claim(failed, "f"), one.claim(done, "d")]);
  one.state.isAway = true;
  await expect(one.claims.release(one.entry(failed, "f"))).rejects.toThrow("away");
  await expect(
    one.claims.complete({ ...one.entry(done, "d"), response: { kept: 2 } }),
  ).rejects.toThrow("away");
  one.state.isAway = false;
  expect(await one.claim(failed, "retry")).toBeNull();
  expect((await one.claim(done, "retry"))?.response).toEqual({ kept: 2 });
});

test("a claim that a crashed database forgot is made again while its request runs", async () => {
  const key = newKey();
  await one.claim(key, "runs");
  await database.pool.query("DELETE FROM idempotency_key WHERE key = $1", [key]);
  expect((await one.claim(key, "again"))?.status).toBe("in_flight");
  one.state.isFrozen = true;
  await vi.waitFor(() => expect(one.state.failed).toBeGreaterThan(0), 20_000);
  one.state.isFrozen = false;
  const stored = () => database.prisma.idempotencyKey.findFirst({ where: { key } });
  await vi.waitFor(
    async () => expect((await stored())?.response).toEqual({ holder: "runs" }),
    20_000,
  );
  expect((await two.claim(key, "elsewhere"))?.status).toBe("in_flight");
});
