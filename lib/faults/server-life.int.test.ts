/** After a crash PostgreSQL may give ids of transactions again. A table that is empty then lets processes notice it. */
import { expect, test } from "vitest";
import { ownPostgres } from "@/lib/testing/own-postgres";

const postgres = await ownPostgres();

const BEGIN_LIFE = "INSERT INTO server_life DEFAULT VALUES ON CONFLICT DO NOTHING";
const lives = async (): Promise<number> => (await postgres.observe("SELECT id FROM server_life")).length;
const startedAt = () => postgres.observe<{ at: string }>("SELECT pg_postmaster_start_time()::text AS at");

test("the table is empty after the server was killed", async () => {
  await postgres.observe(BEGIN_LIFE);
  expect(await lives()).toBe(1);
  await postgres.crash();
  await postgres.restart();
  expect(await lives()).toBe(0);
});

test("the table is empty after one of the server's processes was killed, which the server itself survives", async () => {
  await postgres.observe(BEGIN_LIFE);
  const before = await startedAt();
  const [victim] = await postgres.observe<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'",
  );
  if (victim === undefined) throw new Error("PostgreSQL names no such process.");
  process.kill(victim.pid, "SIGKILL");
  await expect.poll(() => lives().catch(() => null), { timeout: 60_000 }).toBe(0);
  expect(await startedAt()).toEqual(before);
});
