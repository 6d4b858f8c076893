import { setImmediate as nextTurn } from "node:timers/promises";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { cancelOperation } from "@/lib/contracts/operations";
import { STREAM_LIMITS } from "@/lib/news/feed/streams";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { manualTicker } from "@/lib/dev/testing/ticker";

const CHAIN = 31337;
const time = manualTicker();
let now: Date | null = null;
let api: TestApi;
let customer: Customer;
let operationId: string;
beforeAll(async () => {
  const clock = { now: () => now ?? new Date() };
  api = await testApi({
    overrides: { ticker: time.ticker, clock },
    variables: { RATE_LIMIT_PER_IP: "1000000" },
  });
  customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "100",
  });
  operationId = await newOperation();
  const first = await open(withToken(customer.session));
  await untilListening();
  await first.close();
});

/**
 * The service begins to listen when its first stream opens. Until its connection listens, it hears
 * of no credential that ended.
 */
const untilListening = async (): Promise<void> => {
  const { database, listener } = api.services;
  let isHeard = false;
  // Channels are listened to in the order of their registration, so the channel of credentials
  // comes before this one.
  const stop = listener.on("streams_probe", () => {
    isHeard = true;
  });
  await vi.waitFor(
    async () => {
      await database.pool.query("SELECT pg_notify('streams_probe', '')");
      expect(isHeard).toBe(true);
    },
    { timeout: 30_000 },
  );
  stop();
};

const newOperation = async (): Promise<string> => {
  const body = {
    fromWalletId: customer.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    fromToken: "USDC",
  };
  const rest = { toToken: "WETH", amount: "5", recipient: testAccount().address };
  return (await customer.session.client.call(swapAndTransfer, { body: { ...body, ...rest } }))
    .operationId;
};

type Headers = Readonly<Record<string, string>>;
const withToken = ({ accessToken }: Pick<TestSession, "accessToken">): Headers => ({
  authorization: `Bearer ${accessToken}`,
});

/** Opens a stream; `text()` is what came so far, `ended` whether it is over. */
const open = async (headers: Headers, id = operationId) => {
  const response = await api.fetch(`/operations/${id}/events`, { headers });
  const reader = response.body?.getReader();
  const state = { text: "", ended: false };
  const decoder = new TextDecoder();
  const reading = (async () => {
    for (;;) {
      const chunk = await reader?.read();
      if (chunk === undefined || chunk.done) break;
      state.text += decoder.decode(chunk.value);
    }
    state.ended = true;
  })();
  return {
    response,
    text: () => state.text,
    ended: () => state.ended,
    close: async () => {
      await reader?.cancel();
      await reading;
    },
  };
};

/** A member of the customer's project with a session of its own. */
const newMember = async () => {
  const session = await api.signIn();
  const { userId } = await api.services.auth.verifyAccessToken(session.accessToken);
  const { userId: owner } = await api.services.auth.verifyAccessToken(
    customer.session.accessToken,
  );
  const { projectId } = await api.services.projects.resolve(owner, null);
  const { prisma } = api.services.database;
  await prisma.membership.create({
    data: { projectId, userId, role: "operator", createdAt: new Date() },
  });
  const headers = { ...withToken(session), "x-project-id": projectId };
  await vi.waitFor(
    async () =>
      expect((await api.fetch(`/operations/${operationId}`, { headers })).status).toBe(200),
    20_000,
  );
  return { session, userId, projectId, headers };
};

const begun = (stream: Awaited<ReturnType<typeof open>>) =>
  vi.waitFor(() => expect(stream.text()).toContain("operation.created"), 20_000);
const endsCut = async (stream: Awaited<ReturnType<typeof open>>): Promise<void> => {
  await vi.waitFor(() => expect(stream.ended()).toBe(true), 20_000);
  // Without the end marker our client reconnects and gets the error.
  expect(stream.text()).not.toContain("event: end");
};

describe("a stream ends with the credential that opened it, and others go on", () => {
  test("an API key that is revoked over the API, before any check by time", async () => {
    const [key, other] = [
      await api.createKey(customer.session),
      await api.createKey(customer.session),
    ];
    const [stream, witness] = [
      await open({ "x-api-key": key.secret }),
      await open({ "x-api-key": other.secret }),
    ];
    await Promise.all([begun(stream), begun(witness)]);
    await api.fetch(`/auth/api-keys/${key.id}`, {
      method: "DELETE",
      headers: withToken(customer.session),
    });
    await endsCut(stream);
    expect(witness.ended()).toBe(false);
    await witness.close();
  });

  test("a member who is removed over the API, before any check by time", async () => {
    const member = await newMember();
    const [stream, witness] = [
      await open(member.headers),
      await open(withToken(customer.session)),
    ];
    await Promise.all([begun(stream), begun(witness)]);
    const removed = await api.fetch(`/members/${member.userId}/removal`, {
      method: "POST",
      headers: { ...withToken(customer.session), "content-type": "application/json" },
      body: "{}",
    });
    expect(removed.status).toBe(200);
    await endsCut(stream);
    expect(witness.ended()).toBe(false);
    await witness.close();
  });

  test("a session that is signed out, before any check by time", async () => {
    const member = await newMember();
    const [stream, witness] = [
      await open(member.headers),
      await open(withToken(customer.session)),
    ];
    await Promise.all([begun(stream), begun(witness)]);
    await api.fetch("/auth/logout", { method: "POST", headers: member.headers });
    await endsCut(stream);
    expect(witness.ended()).toBe(false);
    await witness.close();
  });

  test("by one check a second: a key that was revoked elsewhere, lost its scope or expired; a member who was removed", async () => {
    const { prisma } = api.services.database;
    const keys = await Promise.all(
      Array.from({ length: 4 }, () => api.createKey(customer.session)),
    );
    const member = await newMember();
    const streams = [
      ...(await Promise.all(keys.map(({ secret }) => open({ "x-api-key": secret })))),
      await open(member.headers),
    ];
    await Promise.all(streams.map(begun));
    const [revoked, narrowed, expired, , removed] = streams;
    const set = (index: number, data: object) =>
      prisma.apiKey.update({ where: { id: keys[index]?.id ?? "" }, data });
    await set(0, { revokedAt: new Date() });
    await set(1, { scopes: ["balances:read"] });
    await set(2, { expiresAt: new Date() });
    await prisma.membership.deleteMany({
      where: { userId: member.userId, projectId: member.projectId },
    });
    time.pass(1000);
    for (const stream of [revoked, narrowed, expired, removed])
      if (stream) await endsCut(stream);
    expect(streams[3]?.ended()).toBe(false);
    await streams[3]?.close();
  });

  test("an access token past its time, without any query", async () => {
    const member = await newMember();
    const stream = await open(member.headers);
    await begun(stream);
    onTestFinished(() => void (now = null));
    now = new Date(Date.now() + 3600_000);
    time.pass(200);
    await endsCut(stream);
  });

  test("streams whose credentials could not be checked for five seconds end; the caller comes back", async () => {
    const stream = await open(withToken(customer.session));
    await begun(stream);
    const query = vi
      .spyOn(api.services.database.pool, "query")
      .mockRejectedValue(new Error("away"));
    onTestFinished(() => query.mockRestore());
    for (let second = 0; second < 5; second += 1) time.pass(1000);
    expect(stream.ended()).toBe(false);
    time.pass(1000);
    await endsCut(stream);
  });
});

describe("many streams", () => {
  test("of 400 idle ones the credentials take one query a second, the events one in two, and one timer serves all", async () => {
    const keys = await Promise.all(
      Array.from({ length: 8 }, () => api.createKey(customer.session)),
    );
    const streams = await Promise.all(
      keys.flatMap(({ secret }, network) =>
        Array.from({ length: STREAM_LIMITS.caller }, () =>
          open({ "x-api-key": secret, "x-forwarded-for": `198.51.100.${String(network)}` }),
        ),
      ),
    );
    expect(streams.map(({ response }) => response.status)).toEqual(streams.map(() => 200));
    await Promise.all(streams.map(begun));
    expect(time.timers()).toBe(1);
    const query = vi.spyOn(api.services.database.pool, "query");
    onTestFinished(() => query.mockRestore());
    // The log of requests and their limits are written some time after the answers, on the same
    // connections.
    const KINDS = { news: /JOIN operation_event e/, ended: /FROM api_key k/ };
    const kinds = () =>
      query.mock.calls.flatMap(([config]) => {
        const { text } = config as unknown as { text: string };
        if (/INSERT INTO (api_request|rate_window)/.test(text)) return [];
        return [Object.entries(KINDS).find(([, pattern]) => pattern.test(text))?.[0] ?? text];
      });
    for (let seconds = 1; seconds <= 10; seconds += 1) {
      time.pass(1000);
      await vi.waitFor(
        () => expect(kinds().filter((kind) => kind === "ended")).toHaveLength(seconds),
        20_000,
      );
      await vi.waitFor(
        () => expect(kinds().filter((kind) => kind === "news")).toHaveLength(seconds >> 1),
        20_000,
      );
      // One that is still under way would be the next one's place; its caller needs a turn more.
      await Promise.all(query.mock.results.map(({ value }) => value as unknown));
      await nextTurn();
    }
    const expected = [...Array<string>(10).fill("ended"), ...Array<string>(5).fill("news")];
    expect(kinds().toSorted()).toEqual(expected);
    await Promise.all(streams.map(({ close }) => close()));
    expect(time.timers()).toBe(0);
  });

  test("beyond 50 of a caller it is 429 with Retry-After; one that is closed makes room", async () => {
    const key = await api.createKey(customer.session);
    const headers = { "x-api-key": key.secret };
    const streams = await Promise.all(
      Array.from({ length: STREAM_LIMITS.caller }, () => open(headers)),
    );
    const refused = await api.fetch(`/operations/${operationId}/events`, { headers });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ code: "rate_limited" });
    const other = await open({ "x-api-key": (await api.createKey(customer.session)).secret });
    expect(other.response.status).toBe(200);
    await streams.pop()?.close();
    const again = await open(headers);
    expect(again.response.status).toBe(200);
    await Promise.all([...streams, other, again].map(({ close }) => close()));
  });

  test("beyond 200 of a network address it is 429, whoever calls; another address goes on", async () => {
    const keys = await Promise.all(
      Array.from({ length: 5 }, () => api.createKey(customer.session)),
    );
    const from = (index: number, address: string): Headers => ({
      "x-api-key": keys[index]?.secret ?? "",
      "x-forwarded-for": address,
    });
    const streams = await Promise.all(
      Array.from({ length: STREAM_LIMITS.network }, (_, index) =>
        open(from(index % 4, "203.0.113.5")),
      ),
    );
    expect(new Set(streams.map(({ response }) => response.status))).toEqual(new Set([200]));
    const path = `/operations/${operationId}/events`;
    expect((await api.fetch(path, { headers: from(4, "203.0.113.5") })).status).toBe(429);
    const elsewhere = await open(from(4, "203.0.113.6"));
    expect(elsewhere.response.status).toBe(200);
    await Promise.all([...streams, elsewhere].map(({ close }) => close()));
  });

  test("a stream that ends with its operation says so and gives its place free", async () => {
    const id = await newOperation();
    const stream = await open(withToken(customer.session), id);
    await begun(stream);
    await customer.session.client.call(cancelOperation, { params: { id } });
    await vi.waitFor(() => expect(stream.text()).toContain("event: end"), 20_000);
    expect(stream.text()).toMatch(/id: 1\n[^]*id: 2\nevent: operation\.cancelled/);
    expect(time.timers()).toBe(0);
  });
});
