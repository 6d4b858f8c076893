import { createHash } from "node:crypto";
import { expect, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import { testDatabase } from "@/lib/dev/testing/database";
import { createApiRequests } from "./service";

const { database } = await testDatabase();
const { pool } = database;

const requestOf = (keyId: string) => ({
  ...{
    projectId: "prj",
    id: newId("request"),
    keyId,
    method: "GET",
    path: "/wallets",
    status: 200,
    code: null,
  },
  ...{ durationMs: 1, clientAddress: null, body: null, at: new Date() },
});

const countOf = async (keyId: string): Promise<number> => {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM api_request WHERE key_id = $1",
    [keyId],
  );
  return rows[0]?.count ?? 0;
};

const setUp = () => {
  const lost: { requests: number; error?: unknown }[] = [];
  const apiKeys = { has: () => Promise.resolve(true) };
  return {
    lost,
    log: createApiRequests({ database, apiKeys, onLost: (each) => lost.push(each) }),
  };
};

test("many requests go out in one statement, by themselves", async () => {
  const query = vi.spyOn(pool, "query");
  const { log } = setUp();
  for (let index = 0; index < 1_000; index += 1) log.record(requestOf("many"));
  expect(query).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(query).toHaveBeenCalledTimes(1), 20_000);
  query.mockRestore();
  await vi.waitFor(async () => expect(await countOf("many")).toBe(1_000), 20_000);
});

test("a body's hash is stored, also where the process ends right after the answer", async () => {
  const { log } = setUp();
  const body = Buffer.from("body ".repeat(1000));
  log.record({ ...requestOf("hashed"), body });
  await log.close();
  const { rows } = await pool.query<{ hash: string }>(
    "SELECT encode(body_sha256, 'hex') AS hash FROM api_request WHERE key_id = 'hashed'",
  );
  expect(rows).toEqual([{ hash: createHash("sha256").update(body).digest("hex") }]);
});

test("a database that is away loses no request, and a batch that was stored already is not stored twice", async () => {
  const { log, lost } = setUp();
  log.record(requestOf("late"));
  const store = pool.query.bind(pool) as (...parts: unknown[]) => Promise<unknown>;
  const lose = async (...parts: unknown[]): Promise<never> => {
    await store(...parts);
    throw new Error("The rows were stored, and the answer was lost.");
  };
  const queries = pool as unknown as { query: (...parts: unknown[]) => Promise<unknown> };
  vi.spyOn(queries, "query").mockImplementationOnce(lose);
  await vi.waitFor(() => expect(lost).toHaveLength(1), 20_000);
  log.record(requestOf("late"));
  await vi.waitFor(async () => expect(await countOf("late")).toBe(2), 20_000);
});

test("beyond what may wait requests are counted as lost, and the service says so", async () => {
  const { log, lost } = setUp();
  for (let index = 0; index < 20_005; index += 1) log.record(requestOf("flood"));
  await log.close();
  expect(lost).toEqual([{ requests: 5 }]);
  expect(await countOf("flood")).toBe(20_000);
});
