import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { revokeApiKey, updateApiKey } from "@/lib/contracts/api-keys";
import { createContact } from "@/lib/contracts/contacts";
import { newId } from "@/lib/core/ids";
import { type NewEvent, recordEventsOn } from "@/lib/news/events/service";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { asOwner } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { manualTicker } from "@/lib/dev/testing/ticker";
import { newMember, setMemberRole } from "@/lib/dev/testing/voters";

const time = manualTicker();
const api = await testApi({ devnet: false, overrides: { ticker: time.ticker } });
const { services } = api;
const { database } = services;
const owner = await api.signIn();
const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
const worker = services.startWebhooks("worker-of-this-test");
afterAll(() => worker.stop());

type Headers = Readonly<Record<string, string>>;
const withToken = ({ accessToken }: Pick<TestSession, "accessToken">): Headers => ({
  authorization: `Bearer ${accessToken}`,
});
const WAIT = { timeout: 20_000, interval: 20 };

const open = async (headers: Headers) => {
  const response = await api.fetch("/stream", { headers });
  const reader = response.body?.getReader();
  const state = { text: "", ended: false };
  const decoder = new TextDecoder();
  const reading = (async () => {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) break;
      state.text += decoder.decode(chunk.value);
    }
  })()
    .catch(() => undefined)
    .finally(() => (state.ended = true));
  await vi.waitFor(() => expect(state.text).toContain("event: ready"), WAIT);
  return {
    text: () => state.text,
    ended: () => state.ended,
    lastId: () => /id: (\S+)\n(?!.*id: )/s.exec(state.text)?.[1] ?? "",
    close: async () => {
      await reader?.cancel().catch(() => undefined);
      await reading;
    },
  };
};
type Stream = Awaited<ReturnType<typeof open>>;

const happen = (event: Partial<NewEvent> & Pick<NewEvent, "type">): Promise<void> =>
  database.rawTransaction((sql) =>
    recordEventsOn(sql, [
      { projectId, objectId: newId("operation"), data: {}, at: new Date(), ...event },
    ]),
  );
const says = (stream: Stream, text: string): Promise<void> =>
  vi.waitFor(() => expect(stream.text()).toContain(text), WAIT);

const EARLIER = new Date(Date.now() - 60_000);

describe("a stream of changes", () => {
  test("names what changes in the project: by events, and by entries of the audit log", async () => {
    const stream = await open(withToken(owner));
    const objectId = newId("operation");
    await happen({ type: "operation.failed", objectId });
    await says(stream, `{"kind":"operations","id":"${objectId}"`);
    expect(stream.text()).toMatch(/"kind":"inbox","id":null/);
    expect(stream.text()).toMatch(/"kind":"balances","id":null/);
    const body = { name: "Acme", address: testAccount().address };
    await owner.client.call(createContact, { body });
    await services.auditLinker.link();
    // Nobody announces entries of the log; the feed looks every second, and leaves a look out while
    // the one before it is under way.
    await vi.waitFor(
      () => {
        time.pass(1000);
        expect(stream.text()).toContain(`{"kind":"contacts","id":null`);
      },
      { timeout: 20_000, interval: 1_000 },
    );
    await stream.close();
  });

  test("never has anything of another project", async () => {
    const stranger = await api.signIn();
    const [other, stream] = [await open(withToken(stranger)), await open(withToken(owner))];
    const objectId = newId("operation");
    await happen({ type: "operation.completed", objectId });
    await says(stream, objectId);
    const own = newId("operation");
    const projectOf = (await stranger.client.call(getMe)).projects[0]?.id ?? "";
    await happen({ type: "operation.completed", objectId: own, projectId: projectOf });
    await says(other, own);
    expect(other.text()).not.toContain(objectId);
    expect(stream.text()).not.toContain(own);
    await Promise.all([other.close(), stream.close()]);
  });

  test("goes on after the last event that the caller saw", async () => {
    const stream = await open(withToken(owner));
    const [seen, missed] = [newId("operation"), newId("operation")];
    await happen({ type: "operation.completed", objectId: seen });
    await says(stream, seen);
    const last = stream.lastId();
    expect(last).toMatch(/^\d+\.\d+$/);
    await stream.close();
    await happen({ type: "operation.completed", objectId: missed });
    const isNumbered = async () =>
      expect(await database.prisma.event.count({ where: { objectId: missed } })).toBe(1);
    await vi.waitFor(isNumbered, WAIT);
    const again = await open({ ...withToken(owner), "last-event-id": last });
    await says(again, missed);
    expect(again.text()).not.toContain(seen);
    await again.close();
  });

  test("tells a caller that missed too much to read everything again", async () => {
    const stream = await open(withToken(owner));
    const last = stream.lastId();
    await stream.close();
    const many = Array.from({ length: 600 }, () => newId("operation"));
    await database.rawTransaction((sql) =>
      recordEventsOn(
        sql,
        many.map((objectId) => ({
          projectId,
          type: "operation.completed",
          objectId,
          data: {},
          at: EARLIER,
        })),
      ),
    );
    const isNumbered = async () => expect(await database.prisma.eventOutbox.count()).toBe(0);
    await vi.waitFor(isNumbered, WAIT);
    const again = await open({ ...withToken(owner), "last-event-id": last });
    await says(again, `"kind":"all"`);
    await again.close();
  });

  test("beats every 15 seconds, with the place to go on from", async () => {
    const stream = await open(withToken(owner));
    await says(stream, "event: ready");
    const queries = vi.spyOn(database.pool, "query");
    onTestFinished(() => queries.mockRestore());
    const beats = async (): Promise<void> => {
      for (let second = 0; second < 15; second += 1) {
        queries.mockClear();
        time.pass(1000);
        // The check of credentials, which runs every second too, must not fall behind.
        await Promise.allSettled(queries.mock.results.map(({ value }): unknown => value));
        await database.pool.query("SELECT 1");
      }
      expect(stream.text()).toMatch(/id: \d+\.\d+\nevent: heartbeat\n/);
    };
    // A beat is left out while changes are sent, which say the same.
    await vi.waitFor(beats, WAIT);
    await stream.close();
  });
});

test("a stream tells people of their own notifications alone", async () => {
  const member = await newMember(api, projectId, "viewer");
  const headers = { ...withToken(member.session), "x-project-id": projectId };
  const [stream, viewer] = [await open(withToken(owner)), await open(headers)];
  await happen({ type: "api_key.created", objectId: newId("apiKey"), data: { name: "K" } });
  await vi.waitFor(
    async () => expect(await database.prisma.notificationDue.count()).toBe(1),
    WAIT,
  );
  await services.notifying.makeDue();
  await says(stream, `"kind":"notifications"`);
  expect(viewer.text()).not.toContain(`"kind":"notifications"`);
  await Promise.all([stream.close(), viewer.close()]);
});

describe("API keys", () => {
  test("get hints of what their scopes may read, and no id of a private movement", async () => {
    const key = await api.createKey(owner, { scopes: ["operations:read"] });
    const stream = await open({ "x-api-key": key.secret });
    const [own, hidden] = [newId("operation"), newId("operation")];
    await happen({ type: "payout.completed", objectId: newId("payout") });
    await happen({ type: "operation.completed", objectId: hidden, private: true });
    await happen({ type: "operation.completed", objectId: own });
    await says(stream, own);
    expect(stream.text()).toContain(`{"kind":"operations","id":null`);
    expect(stream.text()).not.toContain(hidden);
    expect(stream.text()).not.toMatch(
      /"kind":"(payouts|balances|inbox|keys|notifications|members)"/,
    );
    await stream.close();
  });

  test("without operations:read get no stream, and one whose scopes change is cut", async () => {
    const without = await api.createKey(owner, { scopes: ["wallets:read"] });
    expect(
      (await api.fetch("/stream", { headers: { "x-api-key": without.secret } })).status,
    ).toBe(403);
    const key = await api.createKey(owner, { scopes: ["operations:read", "payouts:read"] });
    const stream = await open({ "x-api-key": key.secret });
    await owner.client.call(updateApiKey, {
      params: { id: key.id },
      body: { scopes: ["operations:read"] },
    });
    await vi.waitFor(() => expect(stream.ended()).toBe(true), WAIT);
    expect(stream.text()).not.toContain("event: end");
  });

  test("lose their stream when they are revoked, and the streams of other keys go on", async () => {
    const scopes = ["operations:read" as const];
    const [revoked, other] = [
      await api.createKey(owner, { scopes }),
      await api.createKey(owner, { scopes }),
    ];
    const [stream, witness] = [
      await open({ "x-api-key": revoked.secret }),
      await open({ "x-api-key": other.secret }),
    ];
    await owner.client.call(revokeApiKey, { params: { id: revoked.id } });
    await vi.waitFor(() => expect(stream.ended()).toBe(true), WAIT);
    const objectId = newId("operation");
    await happen({ type: "operation.completed", objectId });
    await says(witness, objectId);
    expect(stream.text()).not.toContain(objectId);
    expect(witness.ended()).toBe(false);
    expect(
      (await api.fetch("/stream", { headers: { "x-api-key": revoked.secret } })).status,
    ).toBe(401);
    await witness.close();
  });

  const isNumbered = (type: string, objectId: string): Promise<void> =>
    vi.waitFor(
      async () =>
        expect(await database.prisma.event.count({ where: { type, objectId } })).toBe(1),
      WAIT,
    );
  const goesOn = async (headers: Headers): Promise<void> => {
    const stream = await open(headers);
    const objectId = newId("operation");
    await happen({ type: "operation.completed", objectId });
    await says(stream, objectId);
    await stream.close();
  };

  test("get their stream back after the key was changed, from the last event that they saw", async () => {
    const key = await api.createKey(owner, { scopes: ["operations:read"] });
    const stream = await open({ "x-api-key": key.secret });
    const last = stream.lastId();
    await stream.close();
    await happen({ type: "api_key.updated", objectId: key.id });
    await isNumbered("api_key.updated", key.id);
    // The change was long before the stream is opened again.
    const values = [key.id, EARLIER];
    await asOwner(
      api.services.config.databaseUrl,
      "UPDATE event SET created_at = $2 WHERE object_id = $1",
      values,
    );
    await goesOn({ "x-api-key": key.secret, "last-event-id": last });
  });

  test("get a stream at once with a new key", async () => {
    const key = await api.createKey(owner, { scopes: ["operations:read"] });
    await isNumbered("api_key.created", key.id);
    await goesOn({ "x-api-key": key.secret });
  });
});

test("the stream of a member who was removed ends, and those of others go on", async () => {
  const member = await newMember(api, projectId, "operator");
  const headers = { ...withToken(member.session), "x-project-id": projectId };
  const [stream, witness] = [await open(headers), await open(withToken(owner))];
  await setMemberRole(api, member.actor, null);
  time.pass(1000);
  await vi.waitFor(() => expect(stream.ended()).toBe(true), WAIT);
  expect(witness.ended()).toBe(false);
  await witness.close();
});

test("no caller without credentials gets a stream", async () => {
  expect((await api.fetch("/stream")).status).toBe(401);
});
