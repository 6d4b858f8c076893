import pg from "pg";
import { afterAll, expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { testServices } from "@/lib/dev/testing/services";
import { splitConnections } from "./connections";

const MAX = 12;
const shares = splitConnections(MAX);
const services = await testServices({
  devnet: false,
  worker: true,
  variables: { DATABASE_CONNECTIONS_MAX: String(MAX) },
});
const observer = new pg.Client({
  connectionString: services.config.databaseUrl,
  application_name: "observer",
});
await observer.connect();
afterAll(() => observer.end());

const connections = async (): Promise<number> => {
  const { rows } = await observer.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'causeway'",
  );
  return rows[0]?.count ?? 0;
};

/** Three times as much of every kind of work as the process has connections. */
const load = (): Promise<unknown>[] => {
  const many = <T>(work: (index: number) => Promise<T>): Promise<T>[] =>
    Array.from({ length: 3 * MAX }, (_, i) => work(i));
  const projectId = newId("project");
  return [
    ...many(() => services.database.pool.query("SELECT pg_sleep(0.1)")),
    ...many(() => services.database.prisma.$queryRawUnsafe("SELECT 1 FROM pg_sleep(0.1)")),
    ...many((index) =>
      services.ledger.openAccount({
        projectId,
        currency: "usdc",
        key: `${projectId}:${String(index)}`,
        by: "test",
      }),
    ),
    ...many(() => services.readiness.check()),
  ];
};

test("a process under load opens all of its shared connections and never more than its limit", async () => {
  let most = 0;
  const observe = async (): Promise<void> => {
    most = Math.max(most, await connections());
  };
  let isDone = false;
  const work = Promise.allSettled(load()).finally(() => (isDone = true));
  await vi.waitFor(
    async () => {
      await observe();
      expect(isDone).toBe(true);
    },
    { timeout: 30_000, interval: 10 },
  );
  const outcomes = await work;
  expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
  // The shared connections, the listener, the heartbeat, readiness, and at least one of the ledger.
  expect(most).toBeGreaterThanOrEqual(shares.shared + 4);
  expect(most).toBeLessThanOrEqual(MAX);
});
