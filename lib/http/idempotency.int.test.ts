import { describe, expect, test } from "vitest";
import { z } from "zod";
import { defineContract } from "@/lib/contracts/contract";
import { DomainError, type ErrorCode } from "@/lib/core/errors";
import { createIdempotencyKeyStore } from "@/lib/platform/db/idempotency-keys";
import { sweepExpired } from "@/lib/platform/db/sweep";
import { testDatabase } from "@/lib/dev/testing/database";
import { httpServices, KNOWN } from "@/lib/dev/testing/http-services";
import { createRoute } from "./pipeline";
import { STATUS_OF } from "./problem";
import { accepted } from "./reply";

const { database } = await testDatabase();
let nowMs = Date.parse("2026-01-01T00:00:00Z");
const OTHERS_TOKEN = "others.token";
const fakes = httpServices();
const services = httpServices({
  auth: {
    verifyAccessToken: (token) =>
      token === OTHERS_TOKEN
        ? Promise.resolve({
            userId: "usr_others",
            sessionId: "ses_others",
            expiresAt: new Date("2100-01-01T00:00:00Z"),
          })
        : fakes.auth.verifyAccessToken(token),
  },
  projects: {
    resolve: (userId, projectId) =>
      userId === "usr_others"
        ? Promise.resolve({ projectId: "prj_others", role: "owner" as const })
        : fakes.projects.resolve(userId, projectId),
  },
  idempotencyStore: createIdempotencyKeyStore(database),
  clock: { now: () => new Date(nowMs) },
});
const response = z.object({ value: z.number() });
const BODY = z.object({ amount: z.string() });
const contract = defineContract({
  method: "POST",
  path: "/things",
  summary: "",
  tag: "",
  auth: "member",
  body: BODY,
  status: 202,
  response,
});

/** A route that counts its runs. `next` defines the result of a run. */
const counting = (
  next: (run: number) => Promise<number> | number,
  on = () => services,
  body: z.ZodType = BODY,
) => {
  let runs = 0;
  const handler = createRoute(on)({
    contract: { ...contract, body },
    handler: async () => accepted({ value: await next((runs += 1)) }),
  });
  /** @param body JSON text, or a value that is written as JSON */
  const send = async (
    key: string,
    sent: unknown = { amount: "1" },
    headers: Record<string, string> = { "x-api-key": KNOWN.key },
  ) => {
    const request = new Request("http://localhost/api/things", {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key, ...headers },
      body: typeof sent === "string" ? sent : JSON.stringify(sent),
    });
    const answer = await handler(request, { params: Promise.resolve({}) });
    return {
      status: answer.status,
      replayed: answer.headers.get("idempotent-replayed"),
      body: (await answer.json()) as Record<string, unknown>,
    };
  };
  return { send, runs: () => runs };
};

const newKey = (): string => crypto.randomUUID();

test("of a hundred requests at once exactly one runs; the others hear that it runs, or its answer", async () => {
  const key = newKey();
  const { send, runs } = counting(
    (run) => new Promise((resolve) => setImmediate(() => resolve(run))),
  );
  const answers = await Promise.all(Array.from({ length: 100 }, () => send(key)));
  expect(runs()).toBe(1);
  expect(
    answers.filter(({ status, replayed }) => status === 202 && replayed === null),
  ).toHaveLength(1);
  for (const { status, body, replayed } of answers) {
    if (status === 409) expect(body.code).toBe("idempotency_in_progress");
    else expect([status, body]).toEqual([202, { value: 1 }]);
    if (status === 409) expect(replayed).toBeNull();
  }
  expect(await send(key)).toEqual({ status: 202, replayed: "true", body: { value: 1 } });
});

test("another body with the same key is 422, and the first answer stays", async () => {
  const key = newKey();
  const { send, runs } = counting((run) => run);
  await send(key);
  const answer = await send(key, { amount: "2" });
  expect([answer.status, answer.body.code]).toEqual([422, "idempotency_mismatch"]);
  expect((await send(key)).replayed).toBe("true");
  expect(runs()).toBe(1);
});

test("the key is the caller's: another key or person of the project, and another project, run anew", async () => {
  const key = newKey();
  const { send, runs } = counting((run) => run);
  await send(key);
  const callers: Record<string, string>[] = [
    { "x-api-key": KNOWN.readOnlyKey },
    { authorization: `Bearer ${KNOWN.token}` },
    { authorization: `Bearer ${OTHERS_TOKEN}` },
  ];
  for (const [index, caller] of callers.entries()) {
    const body = { value: index + 2 };
    expect(await send(key, undefined, caller)).toEqual({ status: 202, replayed: null, body });
    expect(await send(key, undefined, caller)).toEqual({ status: 202, replayed: "true", body });
  }
  expect((await send(key)).body).toEqual({ value: 1 });
  expect(runs()).toBe(4);
});

test("a replay is given only to a caller who may still do it; the error is not kept", async () => {
  let allowed = true;
  let runs = 0;
  const handler = createRoute(() => services)({
    contract,
    beforeReplay: ({ body }) => {
      if (!allowed) throw new DomainError("recipient_not_allowed", `Not ${body.amount}.`);
    },
    handler: () => accepted({ value: (runs += 1) }),
  });
  const key = newKey();
  const send = async () => {
    const request = new Request("http://localhost/api/things", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "idempotency-key": key,
        "x-api-key": KNOWN.key,
      },
      body: JSON.stringify({ amount: "1" }),
    });
    const answer = await handler(request, { params: Promise.resolve({}) });
    return [answer.status, answer.headers.get("idempotent-replayed")];
  };
  expect(await send()).toEqual([202, null]);
  allowed = false;
  expect(await send()).toEqual([403, null]);
  allowed = true;
  expect(await send()).toEqual([202, "true"]);
  expect(runs).toBe(1);
});

test.each(Object.keys(STATUS_OF) as ErrorCode[])(
  "a refusal is decided anew under the same key, so that its reason can pass: %s",
  async (code) => {
    const { send } = counting((run) =>
      run === 1 ? Promise.reject(new DomainError(code, "Not now.")) : run,
    );
    const key = newKey();
    const refused = await send(key);
    expect([refused.status, refused.body.code]).toEqual([STATUS_OF[code], code]);
    expect(await send(key, { amount: "2" })).toEqual({
      status: 202,
      replayed: null,
      body: { value: 2 },
    });
    expect(await send(key, { amount: "2" })).toEqual({
      status: 202,
      replayed: "true",
      body: { value: 2 },
    });
  },
);

test("an error that is no refusal leaves the key free as well", async () => {
  const { send } = counting((run) => (run === 1 ? Promise.reject(new Error("bug")) : run));
  const key = newKey();
  expect((await send(key)).status).toBe(500);
  expect(await send(key)).toEqual({ status: 202, replayed: null, body: { value: 2 } });
});

test("the same JSON value is the same request, however it is written", async () => {
  const { send, runs } = counting(
    (run) => run,
    undefined,
    z.object({ amount: z.string(), note: z.unknown() }),
  );
  const key = newKey();
  await send(key, '{"amount":"1","note":{"a":1,"b":["é"]}}');
  const again = await send(key, ' { "note": {"b": ["\\u00e9"], "a": 1.0}, "amount": "1" } ');
  expect([again.replayed, runs()]).toEqual(["true", 1]);
  for (const other of [
    '{"amount":"1","note":{"a":1,"b":["e"]}}',
    '{"amount":"1","note":{"a":"1","b":["é"]}}',
  ])
    expect((await send(key, other)).body.code).toBe("idempotency_mismatch");
});

test("a large body is checked as a small one is: refused, it leaves the key free, and it runs once", async () => {
  const { send, runs } = counting((run) => run);
  const large = "x".repeat(40_000);
  const wrong = { amount: [large] };
  expect(await send("large", wrong)).toMatchObject({
    status: 400,
    body: { code: "invalid_request" },
  });
  const kept = await database.prisma.idempotencyKey.count({ where: { key: "large" } });
  expect([runs(), kept]).toEqual([0, 0]);
  const right = { amount: large };
  const answers = await Promise.all(Array.from({ length: 5 }, () => send("large", right)));
  expect(answers.filter(({ status }) => status === 202).length).toBeGreaterThan(0);
  expect(runs()).toBe(1);
  expect(await send("large", right)).toMatchObject({
    status: 202,
    replayed: "true",
    body: { value: 1 },
  });
  // The body is read before the key is checked.
  expect(await send("large", wrong)).toMatchObject({ body: { code: "invalid_request" } });
  expect(await send("large", right)).toMatchObject({ replayed: "true", body: { value: 1 } });
  expect(await send("large", { amount: `${large}y` })).toMatchObject({
    body: { code: "idempotency_mismatch" },
  });
});

test("after 24 hours the key is free", async () => {
  const key = newKey();
  const { send, runs } = counting((run) => run);
  await send(key);
  nowMs += 24 * 60 * 60 * 1000 - 1;
  expect((await send(key)).replayed).toBe("true");
  nowMs += 1;
  expect((await send(key)).replayed).toBeNull();
  expect(runs()).toBe(2);
});

test.each(["", "x".repeat(256), "tab\there"])("a key of the form %j is 400", async (key) => {
  const { send, runs } = counting((run) => run);
  expect((await send(key)).status).toBe(400);
  expect(runs()).toBe(0);
});

test("an answer lies in the database encrypted", async () => {
  const { send } = counting(() => 424_242);
  await send(newKey());
  const { rows } = await database.pool.query<{ row: string }>(
    "SELECT row_to_json(k)::text AS row FROM idempotency_key k",
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.map(({ row }) => row).join("")).not.toContain("424242");
});

describe("the store", () => {
  const store = createIdempotencyKeyStore(database);
  const at = (seconds: number): Date =>
    new Date(Date.parse("2026-06-01T00:00:00Z") + seconds * 1000);
  const scope = { projectId: "prj_store", actor: "key_store", route: "POST /things" };
  const claim = (key: string, holder: string, seconds: number, digest = "a") =>
    store.claim({
      ...scope,
      key,
      holder,
      digest: Buffer.from(digest),
      now: at(seconds),
      lockedUntil: at(seconds + 60),
      expiresAt: at(seconds + 86_400),
    });

  test("a claim without an instance passes to the next one when its time is over, and the dead one cannot store its answer any more", async () => {
    const key = newKey();
    expect(await claim(key, "one", 0)).toBeNull();
    expect((await claim(key, "two", 59))?.status).toBe("in_flight");
    expect((await claim(key, "two", 61, "other body"))?.status).toBe("in_flight");
    expect(await claim(key, "two", 61)).toBeNull();
    await store.complete({ ...scope, key, holder: "one", response: { late: true } });
    expect((await claim(key, "three", 62))?.status).toBe("in_flight");
    await store.release({ ...scope, key, holder: "one" });
    expect((await claim(key, "three", 62))?.status).toBe("in_flight");
    await store.complete({ ...scope, key, holder: "two", response: { right: true } });
    expect((await claim(key, "three", 63))?.response).toEqual({ right: true });
  });

  test("the sweep deletes expired keys and keeps the others", async () => {
    await claim("old", "one", 0);
    await claim("new", "one", 100);
    // The sweep uses the database's clock.
    await database.pool.query(
      "UPDATE idempotency_key SET expires_at = now() - interval '1 s' WHERE key = 'old'",
    );
    await database.pool.query(
      "UPDATE idempotency_key SET expires_at = now() + interval '1 h' WHERE key = 'new'",
    );
    await sweepExpired(database, {
      quotesDays: 30,
      codesDays: 90,
      rawTransactionsDays: 90,
      snapshotsDays: 400,
      apiRequestsDays: 30,
      notificationsDays: 90,
      deliveriesDays: 30,
    });
    expect(await claim("old", "two", 1)).toBeNull();
    expect((await claim("new", "two", 101))?.status).toBe("in_flight");
  });
});

describe("while APP_SECRET is changed", () => {
  test("a stored answer is given again by instances that know the secret it was stored under", async () => {
    const { config } = services;
    const appSecret = "another secret of at least thirty-two characters";
    const changing = {
      ...services,
      config: { ...config, appSecret, appSecretPrevious: config.appSecret },
    };
    const changed = { ...services, config: { ...config, appSecret } };
    const key = newKey();
    const first = await counting(() => 1).send(key);
    const again = counting(
      () => 2,
      () => changing,
    );
    expect(await again.send(key)).toEqual({ ...first, replayed: "true" });
    const after = counting(
      () => 3,
      () => changed,
    );
    expect((await after.send(key)).status).toBe(500);
    expect([again.runs(), after.runs()]).toEqual([0, 0]);
  });
});
