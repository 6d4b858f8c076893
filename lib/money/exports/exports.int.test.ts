import { createHash } from "node:crypto";
import { expect, test, vi } from "vitest";
import { exportActivity } from "@/lib/contracts/activity";
import { exportAuditLog } from "@/lib/contracts/audit";
import { getMe } from "@/lib/contracts/auth";
import { createContact } from "@/lib/contracts/contacts";
import { readInbox } from "@/lib/contracts/dev";
import { createExport, downloadExport, getExport, listExports } from "@/lib/contracts/exports";
import { createGlobalAccount, exportStatement } from "@/lib/contracts/global-accounts";
import { addSeconds } from "@/lib/core/clock";
import type { UserActor } from "@/lib/core/actor";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { readCamt053 } from "@/lib/dev/testing/camt053";
import { testAccount } from "@/lib/dev/testing/factories";
import { createExportRunner, createExportsService, type ExportSources } from "./service";

const api = await testApi({ devnet: false, worker: true });
const { database, clock } = api.services;

const actorOf = async (session: TestSession): Promise<UserActor> => {
  const { userId, sessionId } = await api.services.auth.verifyAccessToken(session.accessToken);
  const { projects } = await session.client.call(getMe);
  const projectId = projects[0]?.id ?? "";
  return { type: "user", userId, sessionId, projectId, role: "owner" };
};

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const whenReady = (session: TestSession, id: string) =>
  vi.waitFor(
    async () => {
      const made = await session.client.call(getExport, { params: { id } });
      expect(made.state).toBe("ready");
      return made;
    },
    { timeout: 30_000, interval: 50 },
  );

const ROWS = 10;

/** Ten records, one on each page. `wait` runs before a page is returned. */
const slowSources = (wait: (place: number) => Promise<void>): ExportSources => {
  const source = {
    formats: ["csv"] as const,
    page: async (_request: unknown, cursor: string | null) => {
      const place = Number(cursor ?? 0);
      await wait(place);
      const next = place + 1 < ROWS ? String(place + 1) : null;
      return { text: `row ${String(place)}\r\n`, rows: 1, next };
    },
  };
  return {
    activity: source,
    operations: source,
    payout_items: source,
    account_statement: source,
    reserve_statement: source,
    audit_log: source,
  };
};

const runnerOf = (sources: ExportSources) =>
  createExportRunner({
    database,
    sources,
    roleOf: () => Promise.resolve("owner"),
    outbox: api.services.mailOutbox,
    publicUrl: "http://localhost:3000",
    clock,
  });

const textOf = async (content: AsyncIterable<Uint8Array>): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
};

/** An export whose job no worker of the process runs. */
const madeWithoutJob = async (actor: UserActor, sources: ExportSources, at = clock.now()) => {
  const service = createExportsService({ database, sources, clock: { now: () => at } });
  const made = await service.create(actor, { kind: "activity", format: "csv", filters: {} });
  await database.pool.query("DELETE FROM job WHERE id = $1", [`${actor.projectId}/${made.id}`]);
  return { service, id: made.id, jobId: `${actor.projectId}/${made.id}` };
};

test("a worker that dies in the middle loses nothing: another one goes on, and each record is in the file once", async () => {
  const actor = await actorOf(await api.signIn());
  vi.spyOn(api.services.exportRunner, "run").mockResolvedValue({
    done: false,
    againInMs: 60_000,
  });
  let release: () => void = () => undefined;
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  let isStuck: () => void = () => undefined;
  const stuck = new Promise<void>((resolve) => (isStuck = resolve));
  const dying = slowSources(async (place) => {
    if (place < 4) return;
    isStuck();
    await isReleased;
  });
  const { service, id, jobId } = await madeWithoutJob(actor, dying);
  const first = runnerOf(dying).run(jobId, new AbortController().signal);
  await stuck;
  expect(await service.get(actor, id)).toMatchObject({ state: "running", rows: 4 });
  const places: number[] = [];
  const healthy = slowSources((place) => Promise.resolve(void places.push(place)));
  expect(await runnerOf(healthy).run(jobId, new AbortController().signal)).toEqual({
    done: true,
  });
  // The first worker was only slow: its part comes late, and must not be stored twice.
  release();
  await first;
  expect(places).toEqual([4, 5, 6, 7, 8, 9]);
  const file = await service.file(actor, id);
  const text = await textOf(file.content);
  expect(text).toBe(
    Array.from({ length: ROWS }, (_, place) => `row ${String(place)}\r\n`).join(""),
  );
  expect(Buffer.from(file.export.sha256 ?? []).toString("hex")).toBe(sha256(text));
  expect(file.export).toMatchObject({ rows: ROWS, bytes: text.length });
  vi.restoreAllMocks();
});

test("a file is kept for 7 days, and its parts are swept after that", async () => {
  const actor = await actorOf(await api.signIn());
  vi.spyOn(api.services.exportRunner, "run").mockResolvedValue({
    done: false,
    againInMs: 60_000,
  });
  const sources = slowSources(() => Promise.resolve());
  const DAY = 86_400;
  const { service, id, jobId } = await madeWithoutJob(actor, sources);
  await runnerOf(sources).run(jobId, new AbortController().signal);
  const later = (seconds: number) =>
    createExportsService({
      database,
      sources,
      clock: { now: () => addSeconds(clock.now(), seconds) },
    });
  expect((await later(7 * DAY - 60).get(actor, id)).state).toBe("ready");
  expect((await later(7 * DAY).get(actor, id)).state).toBe("expired");
  await expect(later(7 * DAY).file(actor, id)).rejects.toMatchObject({ code: "invalid_state" });
  const count = async (): Promise<number> =>
    (await database.pool.query("SELECT 1 FROM export_chunk WHERE export_id = $1", [id]))
      .rowCount ?? 0;
  await api.services.sweep();
  expect(await count()).toBe(ROWS);
  await database.pool.query(
    "UPDATE export_chunk SET created_at = now() - interval '8 days 1 second' WHERE export_id = $1",
    [id],
  );
  await api.services.sweep();
  expect(await count()).toBe(0);
  expect(await service.get(actor, id)).toMatchObject({ id });
  vi.restoreAllMocks();
});

test("a file that cannot be written says why, and no job is left", async () => {
  const session = await api.signIn();
  const { id } = await session.client.call(createExport, {
    body: {
      kind: "account_statement",
      filters: { accountId: "ga_01980000-0000-7000-8000-000000000000" },
    },
  });
  await vi.waitFor(
    async () => {
      const made = await session.client.call(getExport, { params: { id } });
      expect(made).toMatchObject({ state: "failed", sha256: null, bytes: null });
      expect(made.failure).not.toBeNull();
    },
    { timeout: 30_000, interval: 50 },
  );
  await expect(session.client.call(downloadExport, { params: { id } })).rejects.toMatchObject({
    code: "invalid_state",
  });
});

test("an export in the background is the same file as the direct download, and its maker gets one mail", async () => {
  const session = await api.signIn();
  const email = await api.verifiedEmail(session);
  for (let made = 0; made < 3; made += 1)
    await session.client.call(createContact, {
      body: { name: `Contact ${String(made)}`, address: testAccount().address },
    });
  const { id, state, rows } = await session.client.call(createExport, {
    body: { kind: "audit_log", filters: { action: "contact.proposed" } },
  });
  expect([state, rows]).toEqual(["queued", 0]);
  const made = await whenReady(session, id);
  const text = await session.client.call(downloadExport, { params: { id } });
  const direct = await session.client.call(exportAuditLog, {
    query: { action: "contact.proposed" },
  });
  // The background job links entries to the hash chain meanwhile.
  const withoutChain = (csv: string): string[] =>
    csv.split("\r\n").map((line) => line.split(",").slice(0, 2).join(","));
  expect(withoutChain(text)).toEqual(withoutChain(direct));
  expect(made).toMatchObject({ sha256: sha256(text), bytes: Buffer.byteLength(text) });
  await vi.waitFor(
    async () => {
      const { data } = await session.client.call(readInbox, {
        query: { to: email, limit: 20 },
      });
      expect(data.filter(({ subject }) => subject === "Your export is ready")).toHaveLength(1);
    },
    { timeout: 30_000, interval: 100 },
  );
});

test("statements and lists of every kind are written, in both formats", async () => {
  const session = await api.signIn();
  const account = await session.client.call(createGlobalAccount, {
    body: { currency: "USDC", name: "Payroll" },
  });
  const csv = await session.client.call(createExport, {
    body: { kind: "account_statement", filters: { accountId: account.id } },
  });
  const camt = await session.client.call(createExport, {
    body: { kind: "reserve_statement", format: "camt053", filters: { currency: "USDC" } },
  });
  const activity = await session.client.call(createExport, { body: { kind: "activity" } });
  const operations = await session.client.call(createExport, { body: { kind: "operations" } });
  const fileOf = async (id: string): Promise<string> => {
    await whenReady(session, id);
    return session.client.call(downloadExport, { params: { id } });
  };
  const { from, to } = csv.filters;
  expect(await fileOf(csv.id)).toBe(
    await session.client.call(exportStatement, {
      params: { id: account.id },
      query: { from, to },
    }),
  );
  expect(readCamt053(await fileOf(camt.id))).toMatchObject({ opening: "0", closing: "0" });
  expect(await fileOf(activity.id)).toBe(await session.client.call(exportActivity));
  expect((await fileOf(operations.id)).startsWith("operation_id,")).toBe(true);
});

test("only who may read the contents sees an export, and the right counts at the download", async () => {
  const session = await api.signIn();
  const stranger = await api.signIn();
  const whole = await api.createKey(session, { scopes: ["operations:read", "accounts:read"] });
  const narrow = await api.createKey(session, { scopes: ["operations:read"] });
  const { id } = await whole.client.call(createExport, { body: { kind: "activity" } });
  const log = await session.client.call(createExport, { body: { kind: "audit_log" } });
  await whenReady(session, id);
  await whenReady(session, log.id);
  const read = (client: TestSession["client"], one: string) =>
    client.call(downloadExport, { params: { id: one } });
  expect(await read(session.client, id)).toContain("id,kind");
  expect(await read(whole.client, id)).toContain("id,kind");
  for (const [client, one] of [
    [narrow.client, id],
    [stranger.client, id],
    [whole.client, log.id],
  ] as const) {
    await expect(read(client, one)).rejects.toMatchObject({ code: "not_found" });
    const { data } = await client.call(listExports);
    expect(data.map((each) => each.id)).not.toContain(one);
  }
  const actor = await actorOf(session);
  await expect(
    api.services.exports.file({ ...actor, role: "viewer" }, log.id),
  ).rejects.toMatchObject({ code: "not_found" });
  expect((await api.services.exports.file({ ...actor, role: "viewer" }, id)).export.id).toBe(
    id,
  );
  await expect(
    narrow.client.call(createExport, {
      body: { kind: "account_statement", filters: { accountId: "ga_1" } },
    }),
  ).rejects.toMatchObject({ code: "insufficient_scope" });
  await expect(
    whole.client.call(createExport, { body: { kind: "audit_log" } }),
  ).rejects.toMatchObject({ code: "forbidden" });
});

test("unknown filters and formats are refused by their names", async () => {
  const { client } = await api.signIn();
  await expect(
    client.call(createExport, { body: { kind: "activity", filters: { stauts: "failed" } } }),
  ).rejects.toMatchObject({
    code: "unknown_parameter",
    message: "filters.stauts: is not a filter of activity; did you mean `status`?",
    details: [{ path: "filters.stauts", code: "unknown_parameter" }],
  });
  await expect(
    client.call(createExport, { body: { kind: "activity", filters: { status: "late" } } }),
  ).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "filters.status" }] });
  await expect(
    client.call(createExport, { body: { kind: "activity", format: "camt053" } }),
  ).rejects.toMatchObject({ code: "invalid_request", details: [{ path: "format" }] });
});
