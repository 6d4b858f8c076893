import { spawn, type ChildProcess } from "node:child_process";
import { createServer, connect, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, inject, test, vi } from "vitest";
import { newId } from "@/lib/core/ids";
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from "@/lib/stack/postgres/embedded-postgres";
import { migrateDeploy } from "@/lib/platform/db/migrate";
import { signal } from "@/lib/platform/os/process.mjs";
import { bundled } from "@/lib/dev/testing/bundle";
import { testDatabase } from "@/lib/dev/testing/database";
import { seededRandom, testLedger } from "@/lib/dev/testing/ledger";
import { postLoad } from "@/lib/dev/testing/ledger-load";
import { makeWorkspace } from "@/lib/dev/testing/workspace";
import type { Outcome } from "./snapshot";
import { afterFile } from "@/lib/dev/testing/after-file";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const APP_KILLS = 14;
const SERVER_KILLS = 6;
const ACCOUNTS = 40;
const IN_FLIGHT = 64;
const ACKNOWLEDGED_BETWEEN_MIN = 100;
const ACKNOWLEDGED_BETWEEN_SPREAD = 200;

const workspace = await makeWorkspace();
const dataDir = join(workspace.folder, "postgres");
// A separate server with the same durability settings as in production.
let server: EmbeddedPostgres = await startEmbeddedPostgres({ dataDir, durability: "full" });
await server.ensureDatabase("ledger");
const url = server.url("ledger");
await migrateDeploy(url, join(ROOT, "prisma/migrations"));
afterAll(async () => {
  await server.stop();
  workspace.remove();
});
const { ledger, projectId, open, verify, pool } = testLedger(url);
const accounts = await Promise.all(
  Array.from({ length: ACCOUNTS }, () => open("usdc", 100_000n)),
);
const seed = inject("testSeed");
console.log(`Ledger crash: seed ${String(seed)}`);
const random = seededRandom(seed);

/**
 * An instance of the app that only posts transfers. It prints the key of each answered command
 * before the next one.
 */
const APP = `
  import { writeSync } from "node:fs";
  import { createLedgerRepository } from "./lib/books/ledger/repository.ts";
  import { createLedgerService } from "./lib/books/ledger/service.ts";
  import { postLoad } from "./lib/dev/testing/ledger-load.ts";
  const { url, ...options } = JSON.parse(process.argv[2]);
  const ledger = createLedgerService({ repository: createLedgerRepository(url), clock: { now: () => new Date() } });
  await postLoad(ledger, {
    ...options,
    random: (below) => Math.floor(Math.random() * below),
    answered: (key) => writeSync(1, key + "\\n"),
    isOver: () => false,
  });
`;

const app = await bundled({ code: APP });

/** Starts an instance. The printed keys are the commands that it acknowledged. */
const startApp = (name: string): { child: ChildProcess; acknowledged: string[] } => {
  const acknowledged: string[] = [];
  const options = JSON.stringify({ url, projectId, name, accounts, inFlight: IN_FLIGHT });
  const child = spawn(process.execPath, [app, options], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    acknowledged.push(...lines);
  });
  return { child, acknowledged };
};

const until = (what: string, condition: () => boolean): Promise<void> =>
  vi.waitFor(() => expect(condition(), what).toBe(true), { timeout: 30_000, interval: 5 });

const someMore = (): number => ACKNOWLEDGED_BETWEEN_MIN + random(ACKNOWLEDGED_BETWEEN_SPREAD);

const storedKeys = async (): Promise<Set<string>> => {
  const { rows } = await pool.query<{ idempotency_key: string }>(
    "SELECT idempotency_key FROM ledger_transaction",
  );
  return new Set(rows.map((row) => row.idempotency_key));
};

describe("kill -9 under load", () => {
  test(
    `of the app, ${String(APP_KILLS)} times: every acknowledged transfer is there, and nothing is half done`,
    { timeout: 300_000 },
    async () => {
      const acknowledged: string[] = [];
      // Two instances run at a time, so that one continues while the other is killed.
      const apps = [startApp("app-0"), startApp("app-1")];
      for (let kill = 0; kill < APP_KILLS; kill += 1) {
        const app = apps[kill];
        if (!app) throw new Error("There is no such app.");
        const enough = app.acknowledged.length + someMore();
        await until(`app ${String(kill)} posts`, () => app.acknowledged.length > enough);
        const closed = new Promise((resolve) => app.child.once("close", resolve));
        signal(app.child.pid ?? 0, "SIGKILL");
        await closed;
        acknowledged.push(...app.acknowledged);
        if (kill + 2 < APP_KILLS) apps.push(startApp(`app-${String(kill + 2)}`));
      }
      const stored = await storedKeys();
      expect(acknowledged.filter((key) => !stored.has(key))).toEqual([]);
      expect((await verify()).violations).toEqual([]);
      console.log(
        `Ledger crash: ${String(acknowledged.length)} acknowledged by apps that were killed`,
      );
    },
  );

  test(
    `of PostgreSQL, ${String(SERVER_KILLS)} times: every transfer is answered in the end, has its effect once, and is there`,
    { timeout: 300_000 },
    async () => {
      const answered: { key: string; outcome: Outcome }[] = [];
      let over = false;
      const load = postLoad(ledger, {
        projectId,
        name: "server",
        accounts,
        inFlight: IN_FLIGHT,
        random,
        answered: (key, outcome) => void answered.push({ key, outcome }),
        isOver: () => over,
      });
      for (let kill = 0; kill < SERVER_KILLS; kill += 1) {
        const enough = answered.length + someMore();
        await until("transfers are answered", () => answered.length > enough);
        signal(server.pid, "SIGKILL");
        server = await startEmbeddedPostgres({ dataDir, durability: "full" });
      }
      over = true;
      const count = await load;
      const { rows } = await pool.query<{ idempotency_key: string; refused: boolean }>(
        "SELECT idempotency_key, rejection IS NOT NULL AS refused FROM ledger_transaction WHERE idempotency_key LIKE 'server/%'",
      );
      const stored = new Map(rows.map((row) => [row.idempotency_key, !row.refused]));
      expect(answered).toHaveLength(count);
      expect(stored.size).toBe(count);
      expect(answered.filter(({ key, outcome }) => stored.get(key) !== outcome.posted)).toEqual(
        [],
      );
      expect((await verify()).violations).toEqual([]);
      const settled = answered.filter(({ outcome }) => outcome.replayed).length;
      console.log(
        `Ledger crash: ${String(count)} answered, ${String(settled)} of them found committed after a crash`,
      );
    },
  );
});

const startProxy = async (target: string, onCommit: "deliver" | "swallow") => {
  const { hostname, port } = new URL(target);
  let broken = 0;
  const serve = (client: Socket): void => {
    const upstream = connect(Number(port), hostname);
    const end = (): void => {
      client.destroy();
      upstream.end();
    };
    client.on("error", end).on("close", end);
    upstream.on("error", end).on("close", end);
    upstream.pipe(client);
    client.on("data", (chunk: Buffer) => {
      if (broken > 0 || !chunk.includes("COMMIT\0")) {
        upstream.write(chunk);
        return;
      }
      broken += 1;
      if (onCommit === "deliver") upstream.write(chunk);
      end();
    });
  };
  const proxy: Server = createServer(serve);
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  afterFile(() => void proxy.close());
  const address = proxy.address();
  const through = new URL(target);
  through.port = String(typeof address === "object" && address ? address.port : 0);
  return { url: through.href, broken: () => broken };
};

const cases = [
  { onCommit: "deliver", replayed: true },
  { onCommit: "swallow", replayed: false },
] as const;
const prepared = await Promise.all(
  cases.map(async (each) => {
    const database = await testDatabase();
    const direct = testLedger(database.url);
    const proxy = await startProxy(database.url, each.onCommit);
    return { ...each, direct, proxy, through: testLedger(proxy.url) };
  }),
);

describe("a connection that breaks at the commit", () => {
  test.each(prepared)(
    "posts once and answers, when the server did get it ($onCommit)",
    async ({ direct, proxy, through, replayed }) => {
      const { projectId: project } = direct;
      const from = await direct.open("usdc", 100n);
      const to = await direct.open("usdc", 0n);
      const common = { projectId: project, key: newId("event"), by: "test", currency: "usdc" };
      const posted = await through.ledger.transfer({ ...common, from, to, amountBase: 7n });
      expect(proxy.broken()).toBe(1);
      expect(posted.replayed).toBe(replayed);
      expect((await direct.ledger.account(project, to)).postedBase).toBe(7n);
      expect((await direct.verify()).violations).toEqual([]);
    },
  );
});

test("a command fails with an explanation, and does not wait forever, when the database stays unavailable", async () => {
  const away = new URL(url);
  away.port = "1";
  const { ledger: lost } = testLedger(away.href, { patienceMs: 300 });
  const transfer = {
    projectId,
    key: "k",
    by: "test",
    from: "a",
    to: "b",
    amountBase: 1n,
    currency: "usdc",
  };
  await expect(lost.transfer(transfer)).rejects.toMatchObject({
    code: "service_unavailable",
    retryAfterSeconds: 1,
  });
});
