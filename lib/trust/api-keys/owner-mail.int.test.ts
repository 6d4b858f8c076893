import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { UserActor } from "@/lib/core/actor";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import { createJobsRepository } from "@/lib/platform/jobs/repository";
import { type JobRunner, startJobRunner } from "@/lib/platform/jobs/service";
import type { Mail, Mailer } from "@/lib/platform/ports/mail";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testEmail } from "@/lib/dev/testing/factories";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const runners: JobRunner[] = [];
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.stop()));
});

const silent = { warn: () => undefined, error: () => undefined };
const listener = { on: () => () => undefined };

/** A worker that only sends mail. */
const startWorker = (
  deliver: (id: string) => Promise<{ done: true } | { done: false; againInMs: number }>,
): void => {
  const options = { leaseMs: 60_000, heartbeatMs: 500, pollMs: 50 };
  const deps = { repository: createJobsRepository(database), listener, log: silent, options };
  runners.push(
    startJobRunner({ ...deps, workerId: crypto.randomUUID(), handlers: { mail: deliver } }),
  );
};

const waiting = (projectId: string): Promise<number> =>
  database.prisma.mailOutbox.count({ where: { projectId } });
const jobsOf = (projectId: string): Promise<number> =>
  database.prisma.job.count({ where: { id: { startsWith: `${projectId}/` } } });

const isSent = (projectId: string): Promise<void> =>
  vi.waitFor(
    async () => expect([await waiting(projectId), await jobsOf(projectId)]).toEqual([0, 0]),
    20_000,
  );

const recorder = () => {
  const sent: Mail[] = [];
  let isAway = false;
  const send = (mail: Mail): Promise<void> =>
    isAway
      ? Promise.reject(new DomainError("provider_error", "away"))
      : Promise.resolve(void sent.push(mail));
  const mail: Mailer = { id: "recorder", send };
  return { mail, sent, away: (value: boolean) => (isAway = value) };
};

const setUp = async () => {
  const time = movableClock();
  const { mail, sent, away } = recorder();
  const services = createAuthServices({ database, time, mail });
  const account = services.newAccount();
  const actor = await services.actorOf(await services.signIn(account));
  const { projectId } = actor;
  const join = async (role: string, email: string | null): Promise<string | null> => {
    const { userId } = await services.signIn();
    const emailVerifiedAt = email === null ? null : new Date();
    await database.prisma.user.update({
      where: { id: userId },
      data: { email, emailVerifiedAt },
    });
    await database.prisma.membership.create({
      data: { projectId, userId, role, createdAt: new Date() },
    });
    return email;
  };
  const own = testEmail();
  await database.prisma.user.update({
    where: { id: actor.userId },
    data: { email: own, emailVerifiedAt: new Date() },
  });
  return { ...services, time, sent, away, account, actor, projectId, own, join };
};

type SetUp = Awaited<ReturnType<typeof setUp>>;

const exemptKey = async ({ apiKeys, account, actor }: SetUp, as: UserActor = actor) => {
  const input = {
    name: "Shop",
    otp: "exempt",
    dailyCapUsd: "250",
    scopes: ["transfers:write"],
  } as const;
  const error: unknown = await apiKeys.create(as, input).catch((thrown: unknown) => thrown);
  if (!isDomainError(error)) throw new Error("No approval was asked for.");
  const signature = await account.signMessage({ message: error.message });
  return apiKeys.create(as, {
    ...input,
    approval: { approvalId: String(error.extra.approvalId), signature },
  });
};

test("every owner gets one mail about a new key with all of its rights, however many workers run", async () => {
  const it = await setUp();
  const second = await it.join("owner", testEmail());
  await it.join("owner", null);
  await it.join("admin", testEmail());
  const { key } = await exemptKey(it);
  expect(it.sent).toEqual([]);
  for (let worker = 0; worker < 3; worker += 1) startWorker((id) => it.mailOutbox.deliver(id));
  await isSent(it.projectId);
  expect(it.sent.map(({ to }) => to).sort()).toEqual([it.own, second].sort());
  const [mail] = it.sent;
  expect(mail?.subject).toBe('New API key "Shop", which moves money without a code');
  for (const said of [
    'An API key of your project "My project" at http://localhost:3000 was made:',
    '- Name: "Shop"',
    `- Key: ${key.prefix}…${key.last4} (${key.id})`,
    "- May: transfers:write",
    "- Moves money without a code: up to 250 US dollars per UTC day",
    "- Sends to: any address",
    `- Made by: ${it.account.address} (${it.actor.userId})`,
    "- When: 2026-01-01T00:00:00.000Z",
    "- Approved by: a signature of the wallet",
    "revoke the key at once: http://localhost:3000/api-keys",
    `DELETE http://localhost:3000/api/auth/api-keys/${key.id}`,
  ])
    expect(mail?.text).toContain(said);
});

test("the owners get a mail about a new key that needs codes too", async () => {
  const it = await setUp();
  await it.apiKeys.create(it.actor, { name: "CI" });
  startWorker((id) => it.mailOutbox.deliver(id));
  await isSent(it.projectId);
  expect(it.sent.map(({ to, subject }) => [to, subject])).toEqual([
    [it.own, 'New API key "CI"'],
  ]);
  expect(it.sent[0]?.text).toContain("- Moves money without a code: nothing");
});

test("a key is created while the mail server is down, and its mail is sent later", async () => {
  const it = await setUp();
  it.away(true);
  const { secret } = await it.apiKeys.create(it.actor, { name: "CI" });
  expect((await it.apiKeys.verify(secret)).projectId).toBe(it.projectId);
  const [job] = await database.prisma.job.findMany({
    where: { id: { startsWith: `${it.projectId}/` } },
  });
  const id = job?.id ?? "";
  expect(await it.mailOutbox.deliver(id)).toEqual({ done: false, againInMs: 2000 });
  it.time.advance(60);
  expect(await it.mailOutbox.deliver(id)).toEqual({ done: false, againInMs: 60_000 });
  it.time.advance(24 * 3600);
  expect(await it.mailOutbox.deliver(id)).toEqual({ done: false, againInMs: 600_000 });
  it.away(false);
  startWorker((jobId) => it.mailOutbox.deliver(jobId));
  await isSent(it.projectId);
  expect(it.sent).toHaveLength(1);
  // A job that is taken over after its mail was sent does not send it again.
  expect(await it.mailOutbox.deliver(id)).toEqual({ done: true });
  expect(it.sent).toHaveLength(1);
});

test("another process sends the mail when the process that created the key dies after the commit", async () => {
  const it = await setUp();
  const { mail, sent } = recorder();
  const elsewhere = createAuthServices({ database, time: it.time, mail });
  await it.apiKeys.create(it.actor, { name: "CI" });
  const claimed = await createJobsRepository(database).claim({
    workerId: "dead",
    leaseMs: 500,
    limit: 100,
    queues: ["mail"],
  });
  expect(claimed.some(({ id }) => id.startsWith(it.projectId))).toBe(true);
  startWorker((id) => elsewhere.mailOutbox.deliver(id));
  await isSent(it.projectId);
  expect(sent.map(({ to }) => to)).toEqual([it.own]);
  expect(it.sent).toEqual([]);
});

test("nobody gets a mail about a key that was not created", async () => {
  const it = await setUp();
  const error: unknown = await it.apiKeys
    .create(it.actor, { name: "Shop", otp: "exempt", dailyCapUsd: "250" })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "approval_required" });
  expect([await waiting(it.projectId), await jobsOf(it.projectId)]).toEqual([0, 0]);
});

test("owners get a mail about a key whose rights grew, and none about a key whose rights shrank", async () => {
  const it = await setUp();
  const { key } = await exemptKey(it);
  startWorker((id) => it.mailOutbox.deliver(id));
  await isSent(it.projectId);
  await it.apiKeys.update(it.actor, key.id, { dailyCapUsd: "100" });
  const wider = { dailyCapUsd: "200" };
  const error: unknown = await it.apiKeys
    .update(it.actor, key.id, wider)
    .catch((thrown: unknown) => thrown);
  if (!isDomainError(error)) throw new Error("No approval was asked for.");
  const signature = await it.account.signMessage({ message: error.message });
  const approval = { approvalId: String(error.extra.approvalId), signature };
  await it.apiKeys.update(it.actor, key.id, { ...wider, approval });
  await isSent(it.projectId);
  expect(it.sent.map(({ subject }) => subject)).toEqual([
    'New API key "Shop", which moves money without a code',
    'The API key "Shop" may do more now',
  ]);
});
