import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { listNotifications } from "@/lib/contracts/notifications";
import { newId } from "@/lib/core/ids";
import { sqlOn } from "@/lib/platform/db/sql";
import { type NewEvent, recordEventsOn } from "@/lib/news/events/service";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { peekDue } from "./due-repository";
import { createMaking, type MakeDeps } from "./make";

const api = await testApi({ devnet: false });
const { database } = api.services;
const owner = await api.signIn();
const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";

const worker = api.services.startWebhooks("worker-of-this-test");
afterAll(() => worker.stop());

const log = { error: vi.fn() };
const making: MakeDeps = {
  ...{ database, log },
  clock: { now: () => new Date() },
  decisions: { eligible: () => Promise.resolve(new Set<string>()) },
  worthOf: () => Promise.resolve(null),
  nextActionOf: () => Promise.resolve(null),
};
beforeEach(async () => {
  log.error.mockClear();
  await asOwner(
    api.services.config.databaseUrl,
    "TRUNCATE notification, notification_box, notification_due",
  );
});

/** Writes and numbers events, which queues those that may lead to notifications. */
const happen = async (
  ...events: readonly (Pick<NewEvent, "type"> & Partial<NewEvent>)[]
): Promise<void> => {
  const full = events.map((event) => ({
    projectId,
    objectId: newId("operation"),
    data: {},
    at: new Date(),
    ...event,
  }));
  await database.rawTransaction((sql) => recordEventsOn(sql, full));
  const isNumbered = async (): Promise<void> =>
    expect(await database.prisma.eventOutbox.count()).toBe(0);
  await vi.waitFor(isNumbered, { timeout: 15_000, interval: 20 });
};
const failed = { type: "operation.failed", data: { kind: "swap" } } as const;
const listOf = async () =>
  (await owner.client.call(listNotifications, { query: { limit: 100 } })).data;
const titles = async () => (await listOf()).map(({ title }) => title);

test("an event with characters that the database stores in no text is told, and numbered like others", async () => {
  const [zero, half] = [String.fromCodePoint(0), "\ud800"];
  const failure = { code: "x", message: `Reverted:${zero}${zero}no${half}`, retryable: false };
  await happen(
    { type: "operation.failed", data: { kind: "swap", failure } },
    {
      type: "operation.created",
      data: { kind: "swap", subStatus: "awaiting_approval", note: zero },
    },
    {
      type: "payout.created",
      data: { subStatus: "awaiting_approval", itemsTotal: 2, note: `\\u0000${half}` },
    },
  );
  await createMaking(making).makeDue();
  const told = (await listOf()).map(({ title, detail }) => [title, detail]);
  expect(told.slice(0, 2).map(([title]) => title)).toEqual([
    "A payout of 2 rows waits for approval",
    "Swap waits for approval",
  ]);
  expect(told[2]?.[0]).toBe("Swap failed");
  expect(told[2]?.[1]).toMatch(/^Reverted: no/);
  expect(log.error).not.toHaveBeenCalled();
});

test("an event that cannot be told is dropped alone, and logged; those of other projects are told", async () => {
  const broken = newId("decision");
  // An event of a project whose id would come first.
  const foreign = {
    projectId: "prj_00000000-0000-7000-8000-000000000000",
    type: "approval.requested" as const,
    objectId: broken,
  };
  await happen(failed, foreign, ...Array.from({ length: 5 }, () => failed));
  const eligible = (_projectId: string, id: string) =>
    id === broken
      ? Promise.reject(new Error("This request cannot be read."))
      : Promise.resolve(new Set<string>());
  await createMaking({ ...making, decisions: { eligible } }).makeDue();
  expect(await titles()).toEqual(Array.from({ length: 6 }, () => "Swap failed"));
  expect(await database.prisma.notificationDue.count()).toBe(0);
  expect(log.error).toHaveBeenCalledTimes(1);
  expect(log.error.mock.calls[0]?.[0]).toMatchObject({
    projectId: foreign.projectId,
    type: "approval.requested",
  });
});

test("the event that has waited longest is told first, whatever its project", async () => {
  await happen({ ...failed, projectId: "prj_ffffffff-0000-7000-8000-000000000000" });
  await happen(failed);
  const peeked = await peekDue(sqlOn(database.pool), 1);
  expect(peeked.map((event) => event.projectId)).toEqual([
    "prj_ffffffff-0000-7000-8000-000000000000",
  ]);
  await createMaking(making).makeDue();
});
