import { expect, test, vi } from "vitest";
import { ApiError } from "@/lib/api-client/client";
import { contracts } from "@/lib/contracts/all";
import { SCOPES, type BodyInput, type Scope } from "@/lib/contracts/contract";
import {
  EVENT_READERS,
  KEY_GROUPS,
  scopesOfGroup,
  type EventGroup,
} from "@/lib/contracts/event-readers";
import { EVENT_GROUPS, EVENT_TYPES, listEvents } from "@/lib/contracts/events";
import {
  getDelivery,
  listDeliveries,
  resendDelivery,
} from "@/lib/contracts/webhook-deliveries";
import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  replayWebhookEvents,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import { recordEventsOn } from "@/lib/news/events/service";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testApi, type TestApiKey } from "@/lib/dev/testing/api";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

const WAIT = { timeout: 20_000, interval: 20 };
const SECRET = "a reference that only readers of the object may see";
const WEBHOOKS: Scope[] = ["webhooks:read", "webhooks:write"];
const GROUPS = Object.keys(EVENT_GROUPS) as EventGroup[];

const api = await testApi({ devnet: false });
const { services } = api;
const session = await api.signIn();
const { userId } = await services.auth.verifyAccessToken(session.accessToken);
const { projectId } = await services.projects.resolve(userId, null);
const keyWith = (scopes: Scope[]): Promise<TestApiKey> =>
  api.createKey(session, { scopes: [...WEBHOOKS, ...scopes] });
const bare = await keyWith([]);
const all = await api.createKey(session, { scopes: [...SCOPES] });
const receiver = await webhookReceiver();
const worker = services.startWebhooks("event-scopes");
afterFile(() => worker.stop());

const refusal = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "allowed",
    (error: unknown) =>
      error instanceof ApiError ? `${error.code}: ${error.message}` : String(error),
  );

/** Creates one event of each type. */
const happened = async (): Promise<void> => {
  await services.database.rawTransaction((sql) =>
    recordEventsOn(
      sql,
      EVENT_TYPES.map((type) => ({
        projectId,
        type,
        objectId: `x_${type}`,
        data: { note: SECRET },
        at: new Date(),
      })),
    ),
  );
  await vi.waitFor(async () => {
    expect(await services.database.prisma.eventOutbox.count({ where: { projectId } })).toBe(0);
  }, WAIT);
};
await happened();

/** Everything that a caller can read, page by page. */
const readAll = async ({ client }: Pick<TestApiKey, "client">, limit = 7) => {
  const types: string[] = [];
  for (let after = 0; ;) {
    const page = await client.call(listEvents, { query: { after, limit } });
    expect(page.nextAfter).toBeGreaterThanOrEqual(after);
    if (page.data.length === 0)
      return { types: [...new Set(types)].sort(), end: page.nextAfter };
    types.push(...page.data.map(({ type }) => type));
    after = page.nextAfter;
  }
};
const typesOf = (groups: readonly EventGroup[]): string[] =>
  groups.flatMap((group) => [...EVENT_GROUPS[group]]).sort();

test("every group of events is read by a route of the API that reads its object", () => {
  for (const contract of Object.values(EVENT_READERS)) {
    expect(contracts).toContain(contract);
    expect(contract.method).toBe("GET");
  }
  expect(scopesOfGroup("payout")).toEqual(["payouts:read"]);
  expect(scopesOfGroup("deposit")).toEqual(["operations:read"]);
  expect([scopesOfGroup("api_key"), scopesOfGroup("member")]).toEqual([null, null]);
});

test("a key reads the events of the objects that its scopes let it read, and its pages come to the end", async () => {
  const open = KEY_GROUPS.filter((group) => scopesOfGroup(group)?.length === 0);
  const { lastSequence } = await session.client.call(listEvents, { query: {} });
  expect(await readAll(bare)).toEqual({ types: typesOf(open), end: lastSequence });
  for (const scope of [
    "operations:read",
    "transfers:read",
    "payouts:read",
    "accounts:read",
  ] as const) {
    const groups = KEY_GROUPS.filter((group) =>
      scopesOfGroup(group)?.every((each) => each === scope),
    );
    const { types } = await readAll(await keyWith([scope]));
    expect([scope, types]).toEqual([scope, typesOf(groups)]);
  }
  expect((await readAll(all)).types).toEqual(typesOf(KEY_GROUPS));
  expect((await readAll(session)).types).toEqual(typesOf(GROUPS));
});

test("a key subscribes to the events of objects that it may read, and the refusal names the missing scope", async () => {
  const ask = (key: TestApiKey, events: string[]): Promise<string> =>
    refusal(key.client.call(createWebhookEndpoint, { body: { url: receiver.url, events } }));
  for (const group of GROUPS)
    for (const events of [[`${group}.*`], [EVENT_GROUPS[group][0]]]) {
      const [missing] = scopesOfGroup(group) ?? [];
      const expected =
        scopesOfGroup(group) === null
          ? "forbidden"
          : missing === undefined
            ? "allowed"
            : missing;
      expect([events, await ask(bare, events)]).toEqual([
        events,
        expect.stringContaining(expected),
      ]);
    }
  expect(await ask(bare, ["*"])).toMatch(/^insufficient_scope: .*operations:read/);
  expect(
    await ask(await keyWith(["operations:read"]), ["operation.*", "payout.completed"]),
  ).toMatch(/^insufficient_scope: .*payouts:read/);
  expect(await ask(all, ["member.joined"])).toMatch(/^forbidden/);
  const made = await all.client.call(createWebhookEndpoint, {
    body: { url: receiver.url, events: ["*"] },
  });
  expect(made.events).toEqual(KEY_GROUPS.map((group) => `${group}.*`));
});

test("a key that may not read an endpoint's events can neither turn them to itself nor have them sent again, nor read them", async () => {
  const { id } = await session.client.call(createWebhookEndpoint, {
    body: { url: receiver.url, events: ["payout.completed"] },
  });
  await happened();
  const params = { id };
  const first = await vi.waitFor(async () => {
    const { data } = await bare.client.call(listDeliveries, { params, query: {} });
    expect(data).toMatchObject([{ status: "delivered" }]);
    return data[0]?.id ?? "";
  }, WAIT);
  const changes: BodyInput<typeof updateWebhookEndpoint>[] = [
    { url: `${receiver.url}x` },
    { events: ["payout.*"] },
    { payload: "full" },
    { status: "active" },
  ];
  // Each of these changes sends more than the state before it.
  await session.client.call(updateWebhookEndpoint, {
    params,
    body: { payload: "thin", status: "paused" },
  });
  for (const body of changes)
    expect([
      body,
      await refusal(bare.client.call(updateWebhookEndpoint, { params, body })),
    ]).toEqual([body, expect.stringMatching(/^insufficient_scope: .*payouts:read/)]);
  expect(await refusal(bare.client.call(resendDelivery, { params: { id: first } }))).toContain(
    "payouts:read",
  );
  expect(
    await refusal(bare.client.call(replayWebhookEvents, { params, body: { from: 1, to: 50 } })),
  ).toContain("payouts:read");
  // A key may change the description and pause the endpoint, because neither shows or sends
  // anything.
  for (const body of [{ description: "Books" }, { status: "paused" }] as const)
    expect(await refusal(bare.client.call(updateWebhookEndpoint, { params, body }))).toBe(
      "allowed",
    );
  expect((await session.client.call(getWebhookEndpoint, { params })).url).toBe(receiver.url);

  const bodyAs = async ({ client }: Pick<TestApiKey, "client">): Promise<string> =>
    JSON.stringify((await client.call(getDelivery, { params: { id: first } })).requests);
  expect(await bodyAs(bare)).not.toContain(SECRET);
  expect(await bodyAs(await keyWith(["payouts:read"]))).toContain(SECRET);
});
