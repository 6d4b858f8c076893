import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  getNotificationPreferences,
  listNotifications,
  putNotificationPreferences,
  readNotifications,
  type NotificationKind,
} from "@/lib/contracts/notifications";
import type { GasBalances } from "@/lib/chain/gas-balances";
import type { ApiClient } from "@/lib/api-client/client";
import { newId } from "@/lib/core/ids";
import { type PipelinedSql, sqlOf } from "@/lib/platform/db/sql";
import { cancelDecision } from "@/lib/trust/decisions/service";
import { type NewEvent, recordEventsOn } from "@/lib/news/events/service";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { newMember, setMemberRole, type TestMember } from "@/lib/dev/testing/voters";
import { createGasWatch } from "./gas-watch";
import { createMaking, type MakeDeps } from "./make";
import type { Deposited } from "./news";

const DAY_MS = 24 * 3_600_000;
const moved = { ms: 0 };
const clock = { now: () => new Date(Date.now() + moved.ms) };
const api = await testApi({ devnet: false, overrides: { clock } });
const { services } = api;
const { database, notifying } = services;

const owner = await api.signIn();
const ownerEmail = await api.verifiedEmail(owner);
const { projects, id: ownerId } = await owner.client.call(getMe);
const projectId = projects[0]?.id ?? "";
let operator: TestMember;
let viewer: TestMember;

const worker = services.startWebhooks("worker-of-this-test");
afterAll(() => worker.stop());

beforeAll(async () => {
  operator = await newMember(api, projectId, "operator");
  viewer = await newMember(api, projectId, "viewer");
});

/** Writes events, and waits until the sequencer has numbered them. */
const happen = async (
  ...events: readonly (Pick<NewEvent, "type"> & Partial<NewEvent>)[]
): Promise<void> => {
  const at = clock.now();
  const full = events.map((event) => ({
    projectId,
    objectId: newId("operation"),
    data: {},
    at,
    ...event,
  }));
  await database.rawTransaction((sql) => recordEventsOn(sql, full));
  const isNumbered = async (): Promise<void> => {
    const { rows } = await database.pool.query("SELECT 1 FROM event_outbox LIMIT 1");
    expect(rows).toEqual([]);
  };
  await vi.waitFor(isNumbered, { timeout: 15_000, interval: 20 });
};

const failed = (title = "swap"): Pick<NewEvent, "type"> & Partial<NewEvent> => ({
  type: "operation.failed",
  data: {
    kind: title,
    failure: { code: "x", message: "The pool was empty. The money is back.", retryable: true },
  },
});

const listOf = async (client: ApiClient) =>
  (await client.call(listNotifications, { query: { limit: 100 } })).data;
/** Dependencies without voters and without prices. */
const making: MakeDeps = {
  ...{ database, clock, log: { error: () => undefined } },
  decisions: { eligible: () => Promise.resolve(new Set<string>()) },
  worthOf: () => Promise.resolve(null),
  nextActionOf: () => Promise.resolve(null),
};
const titlesOf = async (client: ApiClient) => (await listOf(client)).map(({ title }) => title);
const clear = () =>
  asOwner(
    api.services.config.databaseUrl,
    "TRUNCATE notification, notification_box, notification_preference, mail_outbox",
  );
const choose = (
  client: ApiClient,
  kind: NotificationKind,
  choice: { inApp: boolean; mail: "off" | "at_once" | "daily" },
) => client.call(putNotificationPreferences, { body: { kinds: [{ kind, ...choice }] } });
const waitingMails = async (to: string): Promise<{ subject: string; text: string }[]> =>
  database.prisma.mailOutbox.findMany({ where: { to }, select: { subject: true, text: true } });

describe("who is told", () => {
  beforeAll(clear);

  test("everybody of a failure; only owners and admins of a key; a viewer of no approval", async () => {
    await happen(failed(), {
      type: "api_key.created",
      objectId: newId("apiKey"),
      data: { name: "Payroll", prefix: "cw", last4: "abcd" },
    });
    await happen({
      type: "payout.created",
      objectId: newId("payout"),
      data: { subStatus: "awaiting_approval", itemsTotal: 3 },
    });
    await notifying.makeDue();
    expect(await titlesOf(owner.client)).toEqual([
      "A payout of 3 rows waits for approval",
      'The API key "Payroll" was created',
      "Swap failed",
    ]);
    expect(await titlesOf(operator.client)).toEqual([
      "A payout of 3 rows waits for approval",
      "Swap failed",
    ]);
    expect(await titlesOf(viewer.client)).toEqual(["Swap failed"]);
    expect((await listOf(viewer.client))[0]?.detail).toBe(
      "The pool was empty. The money is back.",
    );
  });

  test("of a request only those who may vote on it, and not the person who asked", async () => {
    await clear();
    const required = { count: 1, roles: ["owner", "operator"], excludeMaker: true } as const;
    const input = {
      ...{
        projectId,
        subject: { type: "test", id: "x" },
        digest: new Uint8Array(32),
        title: "Pay Acme",
        lines: [],
      },
      ...{ maker: operator.actor, required, expiresAt: new Date(Date.now() + DAY_MS) },
    };
    const id = await database.transaction((tx) => services.decisions.open(tx, input));
    await happen();
    await notifying.makeDue();
    const [told] = await listOf(owner.client);
    expect(told).toMatchObject({
      kind: "approval_waiting",
      detail: "Pay Acme",
      path: `/inbox/${id}`,
    });
    expect(await titlesOf(operator.client)).toEqual([]);
    expect(await titlesOf(viewer.client)).toEqual([]);
    expect(told?.ended).toBeNull();
    await database.transaction((tx) =>
      cancelDecision(sqlOf(tx), { projectId, subject: input.subject, at: clock.now() }),
    );
    expect((await listOf(owner.client))[0]).toMatchObject({ id: told?.id, ended: "cancelled" });
  });

  test("nobody of what happened before they joined, and a former admin sees no more than the new role", async () => {
    await clear();
    const late = await newMember(api, projectId, "admin");
    const before = new Date(Date.now() - DAY_MS);
    const key = { type: "api_key.created", data: { name: "K" } } as const;
    await happen({ ...failed(), at: before }, { ...key, objectId: newId("apiKey") });
    await notifying.makeDue();
    expect(await titlesOf(late.client)).toEqual(['The API key "K" was created']);
    await setMemberRole(api, late.actor, "viewer");
    expect(await titlesOf(late.client)).toEqual([]);
    await setMemberRole(api, late.actor, null);
  });

  test("of a deposit from the person's own amount on, or of unknown value", async () => {
    await clear();
    await operator.client.call(putNotificationPreferences, {
      body: { kinds: [], largeDepositUsd: "500" },
    });
    const deposit = (amount: string, symbol: string) => ({
      // The module that finds deposits writes these events; this version may not know their types.
      type: "deposit.credited" as string as NewEvent["type"],
      data: { chainId: 1, token: { symbol, address: symbol }, amount },
    });
    await happen(
      deposit("499.99", "A"),
      deposit("500", "B"),
      deposit("10000", "C"),
      deposit("1", "UNPRICED"),
    );
    const worthOf = ({ token, amount }: Deposited) =>
      Promise.resolve(token === "UNPRICED" ? null : Number(amount));
    await createMaking({ ...making, worthOf }).makeDue();
    expect(await titlesOf(operator.client)).toEqual([
      "1 UNPRICED arrived",
      "10,000 C arrived",
      "500 B arrived",
    ]);
    expect(await titlesOf(owner.client)).toEqual(["1 UNPRICED arrived", "10,000 C arrived"]);
  });
});

describe("once for each person and event", () => {
  test("however many workers make turns at the same time, and after turns that were rolled back", async () => {
    await clear();
    await happen(...Array.from({ length: 250 }, () => failed()));
    const dying = {
      ...database,
      rawTransaction: <T>(work: (sql: PipelinedSql) => Promise<T>): Promise<T> =>
        database.rawTransaction(async (sql) => {
          await work(sql);
          throw new Error("The process died before its commit.");
        }),
    };
    const lost = createMaking({ ...making, database: dying });
    await expect(lost.makeDue()).rejects.toThrow("died");
    const makers = Array.from({ length: 4 }, () => createMaking(making));
    await Promise.all(makers.map((one) => one.makeDue()));
    await makers[0]?.makeDue();
    const { rows } = await database.pool.query<{
      user_id: string;
      count: number;
      different: number;
    }>(
      "SELECT user_id, count(*)::int AS count, count(DISTINCT source)::int AS different FROM notification GROUP BY user_id",
    );
    expect(rows).toHaveLength(3);
    for (const { count, different } of rows) expect([count, different]).toEqual([250, 250]);
  });

  test("an event whose payload has an unknown shape keeps no other waiting", async () => {
    await clear();
    await happen({ type: "operation.failed", data: { kind: 7 } }, failed());
    await notifying.makeDue();
    expect(await titlesOf(owner.client)).toEqual(["Swap failed", "Private operation failed"]);
  });
});

describe("the list", () => {
  test("pages, counts and marks the person's own as read, up to what was seen", async () => {
    await clear();
    await happen(failed("swap"), failed("transfer"), failed("swap_and_transfer"));
    await notifying.makeDue();
    const first = await owner.client.call(listNotifications, { query: { limit: 2 } });
    expect(first).toMatchObject({
      unread: 3,
      data: [{ title: "Swap and transfer failed" }, { title: "Transfer failed" }],
    });
    const rest = await owner.client.call(listNotifications, {
      query: { limit: 2, cursor: first.nextCursor ?? "" },
    });
    expect(rest.data.map(({ title }) => title)).toEqual(["Swap failed"]);
    const [newest, middle] = first.data;
    expect(
      await owner.client.call(readNotifications, { body: { upTo: middle?.id ?? "" } }),
    ).toEqual({ unread: 1 });
    // Ids of another person's notifications are ignored.
    expect(
      await viewer.client.call(readNotifications, { body: { ids: [newest?.id ?? ""] } }),
    ).toEqual({ unread: 3 });
    expect(
      await owner.client.call(readNotifications, { body: { ids: [newest?.id ?? ""] } }),
    ).toEqual({ unread: 0 });
    expect((await listOf(viewer.client)).every(({ readAt }) => readAt === null)).toBe(true);
  });

  test("of another project has nothing of this one", async () => {
    const stranger = await api.signIn();
    expect(await listOf(stranger.client)).toEqual([]);
    const key = await api.createKey(stranger);
    expect(
      (await api.fetch("/notifications", { headers: { "x-api-key": key.secret } })).status,
    ).toBe(403);
    const bad = await api.fetch("/notifications?cursor=x", {
      headers: { authorization: `Bearer ${stranger.accessToken}` },
    });
    expect(bad.status).toBe(400);
  });
});

describe("what a person chose", () => {
  test("counts for this person, and kinds that were not named keep their defaults", async () => {
    await clear();
    const mine = await choose(owner.client, "operation_failed", { inApp: false, mail: "off" });
    expect(mine.kinds.find(({ kind }) => kind === "operation_failed")).toMatchObject({
      inApp: false,
      mail: "off",
    });
    expect(mine.kinds.find(({ kind }) => kind === "approval_waiting")).toMatchObject({
      inApp: true,
      mail: "at_once",
    });
    expect(mine.mailAddress).toMatch(/•••/);
    const of = await viewer.client.call(getNotificationPreferences);
    expect(of.kinds.filter(({ allowed }) => allowed).map(({ kind }) => kind)).toEqual([
      "operation_failed",
      "large_deposit",
    ]);
    await happen(failed());
    await notifying.makeDue();
    expect(await titlesOf(owner.client)).toEqual([]);
    expect(await titlesOf(viewer.client)).toEqual(["Swap failed"]);
  });

  test("mail at once: one mail for what came together, sent once however many workers look, none to the others", async () => {
    await clear();
    await choose(owner.client, "operation_failed", { inApp: true, mail: "at_once" });
    await happen(failed("swap"), failed("transfer"));
    await notifying.makeDue();
    await Promise.all([notifying.mailDue(), notifying.mailDue(), notifying.mailDue()]);
    const [mail, ...more] = await waitingMails(ownerEmail);
    expect(more).toEqual([]);
    expect(mail?.subject).toBe('2 notifications of "My project"');
    expect(mail?.text).toContain("Swap failed\nThe pool was empty. The money is back.\n");
    expect(mail?.text).toContain("/settings/notifications");
    expect(mail?.text).not.toContain(projectId);
    expect(await waitingMails(operator.email)).toEqual([]);
    // No second mail is sent within a minute; after that it is.
    await happen(failed());
    await notifying.makeDue();
    await notifying.mailDue();
    expect(await waitingMails(ownerEmail)).toHaveLength(1);
    moved.ms += 61_000;
    await notifying.mailDue();
    expect(await waitingMails(ownerEmail)).toHaveLength(2);
  });

  test("governs the mail of a request for approval", async () => {
    await clear();
    await choose(operator.client, "approval_waiting", { inApp: true, mail: "off" });
    const required = { count: 1, roles: ["owner", "operator"], excludeMaker: true } as const;
    const input = {
      ...{
        projectId,
        subject: { type: "test", id: "y" },
        digest: new Uint8Array(32),
        title: "Pay",
        lines: [],
      },
      ...{ maker: viewer.actor, required, expiresAt: new Date(Date.now() + 9 * DAY_MS) },
    };
    const id = await database.transaction((tx) => services.decisions.open(tx, input));
    await services.decisionRunner.run(`${projectId}/${id}/decision`);
    await happen();
    await notifying.makeDue();
    await notifying.mailDue();
    expect((await waitingMails(ownerEmail)).map(({ subject }) => subject)).toEqual([
      "A payment waits for your approval",
    ]);
    expect(await waitingMails(operator.email)).toEqual([]);
    expect(await titlesOf(operator.client)).toEqual(["A payment waits for your approval"]);
  });
});

test("owners are told once that the service has little for network fees, and again after it was topped up", async () => {
  await clear();
  const operation = 0.005;
  let balances: GasBalances = { executor: 0.049, paymaster: null, operation };
  const watcher = () =>
    createGasWatch({
      ...{ database, clock, log: services.errorLog, read: () => Promise.resolve(balances) },
      chains: [{ id: 1, name: "Ethereum", coin: "ETH" }],
    });
  await Promise.all([watcher().watch(), watcher().watch()]);
  await watcher().watch();
  const [first, ...more] = await listOf(owner.client);
  expect(more).toEqual([]);
  expect(first).toMatchObject({
    title: "The service has little left for network fees on Ethereum",
    detail: expect.stringContaining("has 0.049 ETH") as string,
  });
  expect(await titlesOf(operator.client)).toEqual([]);
  balances = { executor: 0.06, paymaster: null, operation };
  await watcher().watch();
  balances = { executor: 0.01, paymaster: null, operation };
  await watcher().watch();
  expect(await listOf(owner.client)).toHaveLength(1);
  // Everybody sees the alert on the overview page, independent of notifications.
  const alertsOf = async () => (await viewer.client.call(getMe, {})).gasAlerts;
  expect(await alertsOf()).toMatchObject([
    { chainId: 1, account: "executor", balance: "0.01" },
  ]);
  balances = { executor: 5, paymaster: null, operation };
  await watcher().watch();
  expect(await alertsOf()).toEqual([]);
  moved.ms += 1000;
  balances = { executor: 0.02, paymaster: 0.001, operation };
  await watcher().watch();
  expect(await listOf(owner.client)).toHaveLength(3);
  expect(ownerId).toMatch(/^usr_/);
});

// This test is last, because a day later the access tokens of the file have expired.
test("mail once a day goes out the next day, and none when it was turned off or the person has left", async () => {
  await clear();
  const leaving = await newMember(api, projectId, "operator");
  await happen(failed());
  await notifying.makeDue();
  await notifying.mailDue();
  expect(await database.prisma.mailOutbox.count()).toBe(0);
  await choose(viewer.client, "operation_failed", { inApp: true, mail: "off" });
  await setMemberRole(api, leaving.actor, null);
  moved.ms += DAY_MS;
  await notifying.mailDue();
  expect((await waitingMails(ownerEmail)).map(({ subject }) => subject)).toEqual([
    'Swap failed ("My project")',
  ]);
  expect(await waitingMails(operator.email)).toHaveLength(1);
  expect(await waitingMails(viewer.email)).toEqual([]);
  expect(await waitingMails(leaving.email)).toEqual([]);
  await notifying.mailDue();
  expect(await database.prisma.mailOutbox.count()).toBe(2);
});
