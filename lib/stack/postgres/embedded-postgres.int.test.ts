import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded-postgres";
import { isAlive, signal } from "@/lib/platform/os/process.mjs";

const workspace = await makeWorkspace();
let started: EmbeddedPostgres[] = [];
let count = 0;

const start = async (
  dataDir: string,
  durability: "full" | "none" = "none",
): Promise<EmbeddedPostgres> => {
  const postgres = await startEmbeddedPostgres({ dataDir, durability });
  started.push(postgres);
  return postgres;
};

const newDataDir = (): string => join(workspace.folder, `postgres-${String((count += 1))}`);

const query = async (postgres: EmbeddedPostgres, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: postgres.url("postgres") });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
};

afterEach(async () => {
  await Promise.all(started.map((postgres) => postgres.stop()));
  started = [];
});
afterAll(() => workspace.remove());

describe("embedded PostgreSQL", () => {
  test("what was committed survives a kill -9 of the server, on the same port", async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir, "full");
    await query(first, "CREATE TABLE kept (id int); INSERT INTO kept VALUES (7)");
    signal(first.pid, "SIGKILL");
    const second = await start(dataDir, "full");
    expect(second.adopted).toBe(false);
    expect(second.port).toBe(first.port);
    expect(await query(second, "SELECT id FROM kept")).toEqual([{ id: 7 }]);
  });

  test("a server that a killed run left behind is taken over, and stopping it ends it", async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    const second = await start(dataDir);
    expect(second).toMatchObject({ adopted: true, pid: first.pid, port: first.port });
    await second.stop();
    expect(isAlive(first.pid)).toBe(false);
  });

  test("a stale postmaster.pid that names another living process does not stop the start", async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await first.stop();
    writeFileSync(
      join(first.dataDir, "postmaster.pid"),
      `${String(process.pid)}\n${first.dataDir}\n0\n1\n`,
    );
    const second = await start(dataDir);
    expect(await query(second, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  test("a remembered port that somebody else took is replaced by a free one", async () => {
    const dataDir = newDataDir();
    const first = await start(dataDir);
    await first.stop();
    const other = newDataDir();
    const thief = await startEmbeddedPostgres({
      dataDir: other,
      port: first.port,
      durability: "none",
    });
    started.push(thief);
    const second = await start(dataDir);
    expect(second.port).not.toBe(first.port);
  });

  test("it listens on the loopback alone and refuses a wrong password", async () => {
    const postgres = await start(newDataDir());
    expect(await query(postgres, "SHOW listen_addresses")).toEqual([
      { listen_addresses: "127.0.0.1" },
    ]);
    const wrong = new pg.Client({
      connectionString: postgres.url("postgres").replace(/:[^:@]+@/, ":wrong@"),
    });
    await expect(wrong.connect()).rejects.toMatchObject({ code: "28P01" });
    await wrong.end();
  });
});
