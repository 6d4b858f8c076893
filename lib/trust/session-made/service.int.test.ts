import { afterAll, expect, test, vi } from "vitest";
import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import { getMe, logout, whoAmI } from "@/lib/contracts/auth";
import { confirmNotMe, lookUpNotMe } from "@/lib/contracts/not-me";
import {
  approvePayoutSchedule,
  createPayoutSchedule,
  getPayoutSchedule,
} from "@/lib/contracts/payout-schedules";
import {
  listMadeThings,
  restoreMadeThings,
  revokeOtherSessions,
  revokeSession,
} from "@/lib/contracts/sessions";
import { requestOtp } from "@/lib/contracts/swap";
import { createWebhookEndpoint, listWebhookEndpoints } from "@/lib/contracts/webhook-endpoints";
import { addSeconds } from "@/lib/core/clock";
import { createSecrets } from "@/lib/platform/encryption/application-secret";
import { recordEventsOn } from "@/lib/news/events/service";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount, testKey } from "@/lib/dev/testing/factories";
import { newMember } from "@/lib/dev/testing/voters";
import { webhookReceiver } from "@/lib/dev/testing/webhook-receiver";
import { createNotMeTokens } from "./made-thing";

const CHAIN = 31337;
const WAIT = { timeout: 15_000, interval: 20 };
const SUSPENDED = { status: 401, code: "api_key_suspended" };

const api = await testApi();
const { services } = api;
const { database } = services;
const { prisma } = database;
const worker = services.startWebhooks("session-made");
afterAll(() => worker.stop());
const receiver = await webhookReceiver();
const anybody = api.client();

/** A person who signed in twice. The second session represents a stolen one. */
const robbed = async () => {
  const privateKey = testKey();
  const owner = await api.signIn(privateKey);
  const email = await api.verifiedEmail(owner);
  const thief = await api.signIn(privateKey);
  const { id: userId, projects } = await owner.client.call(getMe);
  return { owner, thief, privateKey, email, userId, projectId: projects[0]?.id ?? "" };
};

const keyBy = async ({ client }: Pick<TestSession, "client">, name = "CI") => {
  const { id, secret } = await client.call(createApiKey, { body: { name } });
  return { id, client: api.client({ "x-api-key": secret }) };
};
type TestKey = Awaited<ReturnType<typeof keyBy>>;

const endpointBy = ({ client }: Pick<TestSession, "client">, path = "") =>
  client.call(createWebhookEndpoint, {
    body: { url: `${receiver.url}${path}`, events: ["operation.*"] },
  });

const scheduleBy = ({ client }: Pick<TestSession, "client">) =>
  client.call(createPayoutSchedule, {
    body: {
      chainId: CHAIN,
      transfers: [{ address: testAccount().address, amount: "1", token: "USDC" }],
      startsAt: addSeconds(new Date(), 3600).toISOString(),
    },
  });

const works = (key: TestKey) => key.client.call(whoAmI);
const becomesSuspended = (key: TestKey): Promise<unknown> =>
  vi.waitFor(() => expect(works(key)).rejects.toMatchObject(SUSPENDED), WAIT);
const becomesUsable = (key: TestKey): Promise<unknown> =>
  vi.waitFor(() => expect(works(key)).resolves.toMatchObject({ type: "apiKey" }), WAIT);

const happen = (projectId: string, objectId: string): Promise<void> =>
  database.rawTransaction((sql) =>
    recordEventsOn(sql, [
      { projectId, type: "operation.processing", objectId, data: { objectId }, at: new Date() },
    ]),
  );
const arrivedAt = (path: string): unknown[] =>
  receiver.received
    .filter((webhook) => webhook.path.endsWith(path))
    .map(({ body }) => body.objectId);

const restore = (
  { account, client }: TestSession,
  items: readonly { kind: "api_key" | "webhook_endpoint" | "payout_schedule"; id: string }[],
) =>
  withApproval(account, (approval) =>
    client.call(restoreMadeThings, {
      body: { items: [...items], ...(approval ? { approval } : {}) },
    }),
  );

const mailsTo = async (to: string): Promise<{ subject: string; text: string }[]> =>
  prisma.mailOutbox.findMany({ where: { to }, orderBy: { id: "asc" } });
const linkIn = (text: string): string => /\/not-me#(\S+)$/m.exec(text)?.[1] ?? "";

test("a person who ends all sessions suspends what a thief's session made, also by a key that it had made", async () => {
  const { owner, thief, projectId } = await robbed();
  const key = await keyBy(thief);
  await works(key);
  const endpoint = await endpointBy(key, "/thief");
  const own = await endpointBy(owner, "/own");
  const { id: scheduleId } = await scheduleBy(key);

  const before = await owner.client.call(listMadeThings);
  expect(before.data.map(({ id }) => id).sort()).toEqual(
    [key.id, endpoint.id, own.id, scheduleId].sort(),
  );
  const ended = await owner.client.call(revokeOtherSessions);
  expect(ended.revoked).toBe(1);
  expect(ended.suspended.map(({ kind, id }) => `${kind} ${id}`).sort()).toEqual(
    [
      `api_key ${key.id}`,
      `payout_schedule ${scheduleId}`,
      `webhook_endpoint ${endpoint.id}`,
    ].sort(),
  );

  await becomesSuspended(key);
  await happen(projectId, "op_after");
  await vi.waitFor(() => expect(arrivedAt("/own")).toEqual(["op_after"]), WAIT);
  expect(arrivedAt("/thief")).toEqual([]);
  const [listed] = (await owner.client.call(listApiKeys)).data;
  expect(listed).toMatchObject({ id: key.id, suspendedAt: expect.any(String) as string });
});

test("signing out and the end of a session by itself suspend nothing, and a later end of all sessions finds what they made", async () => {
  const { owner, thief, privateKey, userId } = await robbed();
  const key = await keyBy(thief);
  await thief.client.call(logout);
  const expired = await api.signIn(privateKey);
  const other = await keyBy(expired, "Other");
  await prisma.session.updateMany({
    where: {
      userId,
      revokedAt: null,
      createdAt: {
        gte: (await prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })).createdAt,
      },
    },
    data: { expiresAt: new Date() },
  });
  await works(key);
  await works(other);
  const { suspended } = await owner.client.call(revokeOtherSessions);
  expect(suspended.map(({ name }) => name).sort()).toEqual(["CI", "Other"]);
  await becomesSuspended(key);
  await becomesSuspended(other);
});

test("ending one session suspends what that session made, and nothing of another one", async () => {
  const { owner, thief, privateKey } = await robbed();
  const key = await keyBy(thief);
  const kept = await keyBy(await api.signIn(privateKey), "Kept");
  const [made] = (await owner.client.call(listMadeThings)).data.filter(
    ({ id }) => id === key.id,
  );
  const ended = await owner.client.call(revokeSession, {
    params: { id: made?.sessionId ?? "" },
  });
  expect(ended.suspended.map(({ id }) => id)).toEqual([key.id]);
  await becomesSuspended(key);
  await works(kept);
});

test("what was made with a proof stands behind no session, and neither does what such a key makes", async () => {
  const { owner, thief } = await robbed();
  const proven = await api.createKey(thief, { otp: "exempt", dailyCapUsd: "1" });
  const endpoint = await endpointBy(proven);
  expect((await owner.client.call(listMadeThings)).data).toEqual([]);
  expect((await owner.client.call(revokeOtherSessions)).suspended).toEqual([]);
  expect((await proven.client.call(listWebhookEndpoints)).data).toMatchObject([
    { id: endpoint.id, suspendedAt: null },
  ]);
});

test("a proof restores what was honest, and ending sessions does not suspend it again", async () => {
  const { owner, thief, projectId } = await robbed();
  const key = await keyBy(thief);
  const endpoint = await endpointBy(thief, "/restored");
  await owner.client.call(revokeOtherSessions);
  await becomesSuspended(key);
  await happen(projectId, "op_first");
  await happen(projectId, "op_second");
  await vi.waitFor(async () => {
    const [listed] = (await owner.client.call(listWebhookEndpoints)).data;
    expect(listed?.pending).toBe(2);
  }, WAIT);

  const items = [
    { kind: "api_key", id: key.id },
    { kind: "webhook_endpoint", id: endpoint.id },
  ] as const;
  await expect(
    owner.client.call(restoreMadeThings, { body: { items: [...items] } }),
  ).rejects.toMatchObject({
    status: 409,
    code: "approval_required",
  });
  expect((await restore(owner, items)).restored).toHaveLength(2);
  await becomesUsable(key);
  await vi.waitFor(
    () => expect(arrivedAt("/restored")).toEqual(["op_first", "op_second"]),
    WAIT,
  );
  expect((await owner.client.call(revokeOtherSessions)).suspended).toEqual([]);
  await works(key);

  const rows = await prisma.auditEvent.findMany({
    where: { projectId, subject: key.id },
    orderBy: { id: "asc" },
  });
  expect(rows.map(({ action }) => action)).toEqual([
    "api_key.created",
    "api_key.suspended",
    "api_key.restored",
  ]);
  expect(rows.at(-1)?.data).toMatchObject({ approvedBy: "signature" });
});

test("a suspended schedule cannot be approved before it is restored", async () => {
  const { owner, thief, email } = await robbed();
  const { id: scheduleId } = await scheduleBy(thief);
  await owner.client.call(requestOtp, { body: { scheduleId } });
  const otp = await api.readCode(email);
  await owner.client.call(revokeOtherSessions);
  const approve = () =>
    owner.client.call(approvePayoutSchedule, { params: { id: scheduleId }, body: { otp } });
  await expect(approve()).rejects.toMatchObject({ status: 409, code: "invalid_state" });
  const suspended = await owner.client.call(getPayoutSchedule, { params: { id: scheduleId } });
  expect(suspended).toMatchObject({
    suspendedAt: expect.any(String) as string,
    nextRunAt: null,
  });

  await restore(owner, [{ kind: "payout_schedule", id: scheduleId }]);
  expect(await approve()).toMatchObject({ status: "active", suspendedAt: null });
});

test("an approved schedule stands behind no session", async () => {
  const { owner, thief, email } = await robbed();
  const { id: scheduleId } = await scheduleBy(thief);
  await owner.client.call(requestOtp, { body: { scheduleId } });
  const otp = await api.readCode(email);
  await owner.client.call(approvePayoutSchedule, { params: { id: scheduleId }, body: { otp } });
  expect((await owner.client.call(revokeOtherSessions)).suspended).toEqual([]);
});

test("restoring needs a role that may make such a thing, in the project of the thing", async () => {
  const { owner, thief, projectId } = await robbed();
  const [key, { id: scheduleId }] = [await keyBy(thief), await scheduleBy(thief)];
  await owner.client.call(revokeOtherSessions);
  const operator = await newMember(api, projectId, "operator");
  const stranger = await api.signIn();
  const item = { kind: "api_key", id: key.id } as const;
  const asked = (client: TestSession["client"], items: object[]) =>
    client.call(restoreMadeThings, { body: { items: items as [] } });
  await expect(asked(operator.client, [item])).rejects.toMatchObject({
    status: 403,
    code: "forbidden",
  });
  await expect(asked(stranger.client, [item])).rejects.toMatchObject({ status: 404 });
  await expect(
    asked(owner.client, [{ ...item, kind: "webhook_endpoint" }]),
  ).rejects.toMatchObject({
    status: 404,
  });
  const schedule = { kind: "payout_schedule", id: scheduleId } as const;
  expect(
    (await restore({ ...operator.session, client: operator.client }, [schedule])).restored,
  ).toHaveLength(1);
});

test("the owners are mailed a link that suspends what was made and ends its session, and that only shows it before", async () => {
  const { owner, thief, privateKey, email, projectId } = await robbed();
  const key = await keyBy(thief);
  await endpointBy(thief, "/mailed");
  await scheduleBy(thief);
  const kept = await keyBy(await api.signIn(privateKey), "Kept");
  const mails = await mailsTo(email);
  expect(mails.map(({ subject }) => subject)).toEqual([
    'New API key "CI"',
    "New webhook endpoint in your project",
    "New payout schedule in your project",
    'New API key "Kept"',
  ]);
  const tokens = mails.map(({ text }) => linkIn(text));
  expect(new Set(tokens).size).toBe(4);
  const [, token = ""] = tokens;

  const shown = await anybody.call(lookUpNotMe, { body: { token } });
  expect(shown).toMatchObject({
    kind: "webhook_endpoint",
    name: `${receiver.url}/mailed`,
    state: "works",
    madeBy: owner.account.address,
    sessionEnded: false,
  });
  expect(shown.others.map(({ kind }) => kind).sort()).toEqual(["api_key", "payout_schedule"]);
  await works(key);

  const { suspended } = await anybody.call(confirmNotMe, { body: { token } });
  expect(suspended.map(({ kind }) => kind).sort()).toEqual([
    "api_key",
    "payout_schedule",
    "webhook_endpoint",
  ]);
  await becomesSuspended(key);
  await vi.waitFor(
    () =>
      expect(thief.client.call(whoAmI)).rejects.toMatchObject({
        status: 401,
        code: "unauthorized",
      }),
    WAIT,
  );
  await works(kept);
  expect(await anybody.call(confirmNotMe, { body: { token } })).toEqual({ suspended: [] });
  expect(await anybody.call(lookUpNotMe, { body: { token } })).toMatchObject({
    state: "suspended",
    sessionEnded: true,
    others: [],
  });
  const rows = await prisma.auditEvent.findMany({
    where: { projectId, action: { endsWith: ".suspended" } },
  });
  expect(rows.map(({ actor }) => actor)).toEqual(["not_me_link", "not_me_link", "not_me_link"]);
  expect((await mailsTo(email)).at(-1)).toMatchObject({
    subject: "Things in your project were suspended",
  });
});

test("a forged link, and one of 30 days ago, do nothing", async () => {
  const { thief, email } = await robbed();
  const key = await keyBy(thief);
  const [mail] = await mailsTo(email);
  const token = linkIn(mail?.text ?? "");
  const [projectId = "", id = "", sessionId = ""] = token.split(".");
  const old = createNotMeTokens(createSecrets(services.config.appSecret)).make(
    { projectId, id, sessionId },
    addSeconds(new Date(), -31 * 86_400),
  );
  const other = await robbed();
  const forged = token.replace(projectId, other.projectId);
  for (const bad of [old, forged, token.slice(0, -2), "x", "a.b.c.9999999999.d"])
    for (const contract of [lookUpNotMe, confirmNotMe])
      await expect(anybody.call(contract, { body: { token: bad } })).rejects.toMatchObject({
        status: 404,
      });
  await works(key);
});

test("a thing that is being made while its session is ended is suspended too, or is not made", async () => {
  const { owner, thief } = await robbed();
  const making = Array.from({ length: 10 }, (_, index) =>
    keyBy(thief, `Race ${String(index)}`).catch(() => null),
  );
  await owner.client.call(revokeOtherSessions);
  await Promise.all(making);
  const { data } = await owner.client.call(listApiKeys);
  expect(data.filter(({ suspendedAt }) => suspendedAt === null)).toEqual([]);
});

test("a session that was ended makes nothing within the second in which its token still counts", async () => {
  const { owner, thief, userId } = await robbed();
  const [other] = await prisma.session.findMany({
    where: { userId },
    orderBy: { createdAt: "desc" },
    take: 1,
  });
  // Changes the database directly, so that this process still caches the session as live.
  await thief.client.call(whoAmI);
  await prisma.session.update({
    where: { id: other?.id ?? "" },
    data: { revokedAt: new Date() },
  });
  await expect(keyBy(thief)).rejects.toMatchObject({ status: 401, code: "unauthorized" });
  expect((await owner.client.call(listApiKeys)).data).toEqual([]);
});
