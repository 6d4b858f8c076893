import { expect, test } from "vitest";
import { testDatabase } from "@/lib/dev/testing/database";
import { createIdempotencyKeyStore } from "./idempotency-keys";
import { sweepExpired, sweepWhenDue, type SweptAges } from "./sweep";

const DAY_MS = 86_400_000;
const AGES: SweptAges = {
  quotesDays: 3,
  codesDays: 5,
  rawTransactionsDays: 7,
  snapshotsDays: 9,
  apiRequestsDays: 11,
  notificationsDays: 13,
  deliveriesDays: 15,
};
/** More than one turn deletes from a table. */
const BACKLOG = 210_000;

const { database } = await testDatabase();
const { prisma, pool } = database;
const ago = (days: number): Date => new Date(Date.now() - days * DAY_MS);
await prisma.project.create({ data: { id: "prj", name: "prj", createdAt: ago(100) } });

const idsOf = async (table: string, column = "id"): Promise<string[]> => {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT ${column} AS id FROM ${table} ORDER BY 1`,
  );
  return rows.map(({ id }) => id);
};

test("a quote is deleted at its age after it expired, unless it was executed or is still prepared", async () => {
  const quote = (id: string, days: number, own: object = {}) => ({
    ...{
      id,
      projectId: "prj",
      kind: "swap",
      createdBy: "usr_1",
      status: "open",
      request: {},
      route: {},
      response: {},
      minimumBase: 1,
    },
    ...{ digest: Buffer.alloc(32), createdAt: ago(days), expiresAt: ago(days), ...own },
  });
  await prisma.quote.createMany({
    data: [
      quote("a old", 3.1),
      quote("b recent", 2.9),
      quote("c executed", 50, { status: "used", operationId: "op_1" }),
      quote("d prepared", 50, { status: "prepared", preparedUntil: ago(1) }),
      quote("e prepared long ago", 50, { status: "prepared", preparedUntil: ago(4) }),
    ],
  });
  await sweepExpired(database, AGES);
  expect(await idsOf("quote")).toEqual(["b recent", "c executed", "d prepared"]);
});

test("codes and snapshots are deleted at their ages", async () => {
  const code = (id: string, days: number) => ({
    ...{
      id,
      projectId: "prj",
      userId: "usr",
      requestedBy: "usr",
      subjectId: id,
      digest: Buffer.alloc(32),
      channel: "email",
    },
    ...{
      destination: "x@example.test",
      codeHash: Buffer.alloc(32),
      createdAt: ago(days),
      expiresAt: ago(days),
    },
    ...{ resendAfter: ago(days), closedAt: ago(days), closedAs: "used" },
  });
  await prisma.otp.createMany({ data: [code("old", 5.1), code("recent", 4.9)] });
  const hours = [9.1, 8.9].map(ago);
  await prisma.balanceSnapshot.createMany({
    data: hours.map((hour) => ({ projectId: "prj", hour, takenAt: hour, assets: {} })),
  });
  await sweepExpired(database, AGES);
  expect(await idsOf("otp")).toEqual(["recent"]);
  expect(await prisma.balanceSnapshot.findMany({ select: { hour: true } })).toEqual([
    { hour: hours[1] },
  ]);
});

test("the requests of API keys are deleted at their age", async () => {
  for (const days of [11.1, 10.9])
    await pool.query(
      `INSERT INTO api_request (project_id, id, key_id, method, path, status, duration_ms, at)
       VALUES ('prj', $1, 'key', 'GET', '/wallets', 200, 1, $2)`,
      [String(days), ago(days)],
    );
  await sweepExpired(database, AGES);
  expect(await idsOf("api_request")).toEqual(["10.9"]);
});

test("of a transaction that became final long ago only the signed bytes go; one that is not final keeps them", async () => {
  const transaction = (id: string, nonce: number, status: string, days: number) => ({
    ...{
      id,
      chainId: 1,
      fromAddress: "0x1",
      nonce,
      purpose: id,
      to: "0x2",
      data: "0xda",
      value: 0,
      gas: 21_000,
    },
    ...{
      maxFeePerGas: 1,
      maxPriorityFeePerGas: 1,
      raw: "0x02",
      hash: `0x${id}`,
      status,
      minedHash: `0x${id}`,
    },
    ...{ blockNumber: 5, createdAt: ago(days), updatedAt: ago(days) },
  });
  await prisma.chainTransaction.createMany({
    data: [
      transaction("a final long ago", 0, "final", 7.1),
      transaction("b final", 1, "final", 6.9),
      transaction("c mined", 2, "mined", 70),
    ],
  });
  const before = await prisma.chainTransaction.findMany({ orderBy: { id: "asc" } });
  await sweepExpired(database, AGES);
  const after = await prisma.chainTransaction.findMany({ orderBy: { id: "asc" } });
  expect(after).toEqual(before.map((row, index) => (index === 0 ? { ...row, raw: "" } : row)));
});

test("events and the audit log are never swept, whatever their age", async () => {
  await pool.query(
    `INSERT INTO operation (id, project_id, kind, status, sub_status, request, quoted, minimum_base, created_by, search_terms, created_at,
       updated_at) VALUES ('op', 'prj', 'transfer', 'completed', 'full', '{}', '{}', 0, 'test', '{}', '2001-01-01', '2001-01-01')`,
  );
  await pool.query(
    "INSERT INTO operation_event (project_id, operation_id, seq, type, data, created_at) VALUES ('prj', 'op', 1, 'operation.created', '{}', '2001-01-01')",
  );
  await prisma.auditEvent.create({
    data: { id: "aud", actor: "usr", action: "x", data: {}, createdAt: ago(9000) },
  });
  await sweepExpired(database, {
    quotesDays: 0,
    codesDays: 0,
    rawTransactionsDays: 0,
    snapshotsDays: 0,
    apiRequestsDays: 0,
    notificationsDays: 0,
    deliveriesDays: 0,
  });
  expect([
    await idsOf("operation"),
    await idsOf("operation_event", "operation_id"),
    await idsOf("audit_event"),
  ]).toEqual([["op"], ["op"], ["aud"]]);
});

test("one sweep clears a backlog of any size, and no other instance begins one meanwhile", async () => {
  await pool.query(
    `INSERT INTO idempotency_key (project_id, actor, route, key, digest, status, created_at, locked_until, expires_at)
     SELECT 'prj', 'usr', 'r', 'key ' || n, ''::bytea, 'done', now(), now(), now() - interval '1 s' FROM generate_series(1, $1::int) AS n`,
    [BACKLOG],
  );
  const everyMs = 3_600_000;
  const begun = await Promise.all(
    [1, 2, 3].map(() => sweepWhenDue(database, AGES, { everyMs })),
  );
  expect(begun.filter(Boolean)).toHaveLength(1);
  expect(await idsOf("idempotency_key", "key")).toEqual([]);
  const due = await prisma.periodicTask.findUniqueOrThrow({ where: { name: "sweep" } });
  expect(due.dueAt.getTime()).toBeGreaterThan(Date.now());
}, 120_000);

test("a sweep that is told to stop does so after its batch", async () => {
  await prisma.rateWindow.create({ data: { bucket: "old", windowStart: ago(1), count: 1 } });
  await sweepExpired(database, AGES, { signal: AbortSignal.abort() });
  expect(await idsOf("rate_window", "bucket")).toEqual(["old"]);
});

test("an idempotency key is kept for the configured time", async () => {
  const now = new Date();
  const entry = { projectId: "prj", actor: "usr", route: "r", key: "kept" };
  const claim = {
    ...entry,
    digest: Buffer.alloc(32),
    holder: "h",
    now,
    lockedUntil: now,
    expiresAt: now,
  };
  await createIdempotencyKeyStore(database, { keepHours: 48 }).claim(claim);
  const { rows } = await pool.query<{ at: Date }>(
    "SELECT expires_at AS at FROM idempotency_key WHERE key = 'kept'",
  );
  expect(rows[0]?.at).toEqual(new Date(now.getTime() + 2 * DAY_MS));
});

test("notifications are deleted at their age, read or not", async () => {
  const notification = (id: string, days: number, readAt: Date | null) => ({
    ...{
      projectId: "prj",
      userId: "usr",
      id,
      kind: "policy_changed",
      source: id,
      title: "x",
      path: "/",
      inApp: true,
    },
    ...{ mail: "none", createdAt: ago(days), readAt },
  });
  await prisma.notification.createMany({
    data: [
      notification("a old", 13.1, null),
      notification("b old and read", 13.1, ago(13)),
      notification("c recent", 12.9, null),
    ],
  });
  await sweepExpired(database, AGES);
  expect(await idsOf("notification")).toEqual(["c recent"]);
});
