import { beforeAll, expect, test, vi } from "vitest";
import type { Database } from "@/lib/platform/db/client";
import { isDomainError } from "@/lib/core/errors";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testEmail } from "@/lib/dev/testing/factories";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const CHROME =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const HOME = { userAgent: CHROME, clientAddress: "203.0.113.9" };

const setUp = (time = movableClock()) => ({
  ...createAuthServices({ database, time }),
  ...time,
});
type Instance = ReturnType<typeof setUp>;

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

/** A person with a verified address, signed in once. */
const person = async (instance: Instance) => {
  const account = instance.newAccount();
  const first = await instance.signIn(account, "api", HOME);
  const email = testEmail();
  const verified = { email, emailVerifiedAt: instance.clock.now() };
  await database.prisma.user.update({ where: { id: first.userId }, data: verified });
  return { account, first, email, actor: await instance.actorOf(first) };
};

test("a person sees their own sessions that have not ended, and which one asks", async () => {
  const here = setUp();
  const { account, actor } = await person(here);
  await here.signIn();
  here.advance(60);
  const second = await here.signIn(account, "browser", {
    userAgent: "curl/8.5.0",
    clientAddress: "198.51.100.1",
  });
  const ended = await here.signIn(account);
  await here.auth.logout(ended.sessionId);
  expect(await here.auth.sessions.list(actor)).toMatchObject([
    {
      id: second.sessionId,
      kind: "browser",
      userAgent: "curl/8.5.0",
      clientAddress: "198.51.100.1",
    },
    { id: actor.sessionId, kind: "api", ...HOME },
  ]);
  here.advance(30 * 24 * 3600 - 60);
  expect(await here.auth.sessions.list(actor)).toMatchObject([{ id: second.sessionId }]);
});

test("the time of the last use is stored", async () => {
  const here = setUp();
  const { first, actor } = await person(here);
  here.advance(120);
  await here.auth.verifyAccessToken(first.accessToken);
  await vi.waitFor(async () => {
    const [session] = await here.auth.sessions.list(actor);
    expect(session?.lastUsedAt).toEqual(here.clock.now());
  }, 20_000);
});

test("a revoked session is refused on every other instance within a second, and at once on the same", async () => {
  const time = movableClock();
  const [here, there] = [setUp(time), setUp(time)];
  const { account, actor } = await person(here);
  const lost = await here.signIn(account);
  expect(await codeOf(there.auth.verifyAccessToken(lost.accessToken))).toBe("ok");
  expect(await here.auth.sessions.revoke(actor, lost.sessionId)).toMatchObject({
    id: lost.sessionId,
  });
  expect(await codeOf(here.auth.verifyAccessToken(lost.accessToken))).toBe("unauthorized");
  time.advance(1);
  expect(await codeOf(there.auth.verifyAccessToken(lost.accessToken))).toBe("unauthorized");
  expect(await codeOf(there.auth.refresh(lost.refreshToken ?? ""))).toBe("unauthorized");
  expect(await codeOf(here.auth.sessions.revoke(actor, lost.sessionId))).toBe("not_found");
  const audit = await database.prisma.auditEvent.findFirst({
    where: { subject: lost.sessionId, action: "session.revoked" },
  });
  expect(audit).toMatchObject({ actor: actor.userId, data: { reason: "revoked" } });
});

test("nobody ends the session of somebody else", async () => {
  const here = setUp();
  const { actor } = await person(here);
  const stranger = await here.signIn();
  for (const id of [stranger.sessionId, "ses_01980000-0000-7000-8000-000000000000", "x"])
    expect(await codeOf(here.auth.sessions.revoke(actor, id))).toBe("not_found");
  expect(await here.auth.isLive(stranger.sessionId)).toBe(true);
});

test("ending all others leaves the session that asks, and those of other people", async () => {
  const here = setUp();
  const { account, actor } = await person(here);
  const stranger = await here.signIn();
  const others = [await here.signIn(account), await here.signIn(account, "browser")];
  expect(await here.auth.sessions.revokeOthers(actor)).toEqual({ ended: 2, suspended: [] });
  for (const { sessionId } of others) expect(await here.auth.isLive(sessionId)).toBe(false);
  expect(await here.auth.isLive(actor.sessionId)).toBe(true);
  expect(await here.auth.isLive(stranger.sessionId)).toBe(true);
  expect(await here.auth.sessions.revokeOthers(actor)).toEqual({ ended: 0, suspended: [] });
});

test("a refresh token that two callers use at once ends the session on both instances, and the person is told once", async () => {
  const time = movableClock();
  const [here, there] = [setUp(time), setUp(time)];
  const { first, email } = await person(here);
  const token = first.refreshToken ?? "";
  const answers = await Promise.allSettled([
    here.auth.refresh(token),
    there.auth.refresh(token),
  ]);
  const given = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? [answer.value] : [],
  );
  expect(given).toHaveLength(1);
  time.advance(1);
  for (const { auth } of [here, there]) {
    expect(await codeOf(auth.refresh(given[0]?.refreshToken ?? ""))).toBe("unauthorized");
    expect(await codeOf(auth.verifyAccessToken(given[0]?.accessToken ?? ""))).toBe(
      "unauthorized",
    );
    expect(await codeOf(auth.refresh(token))).toBe("unauthorized");
  }
  const mails = await here.waitingMail(email);
  expect(mails.map(({ subject }) => subject)).toEqual([
    "A session of your Causeway account was ended",
  ]);
  expect(mails[0]?.text).toContain("Chrome on Linux");
});

test("the newest refresh token of an expired session is refused, and is no alarm", async () => {
  const here = setUp();
  const { first, email } = await person(here);
  here.advance(31 * 24 * 3600);
  expect(await codeOf(here.auth.refresh(first.refreshToken ?? ""))).toBe("unauthorized");
  expect(await here.waitingMail(email)).toEqual([]);
});

test("a sign-in from a new device or network is mailed; a known one is not, nor is the first", async () => {
  const here = setUp();
  const { account, email } = await person(here);
  const subjects = async () => (await here.waitingMail(email)).map(({ subject }) => subject);
  expect(await subjects()).toEqual([]);
  await here.signIn(account, "api", { ...HOME, clientAddress: "203.0.113.200" });
  expect(await subjects()).toEqual([]);
  const laptop = {
    userAgent: CHROME.replace("X11; Linux x86_64", "Windows NT 10.0"),
    clientAddress: "203.0.113.9",
  };
  await here.signIn(account, "browser", laptop);
  await here.signIn(account, "browser", laptop);
  expect(await subjects()).toEqual(["New sign-in to your Causeway account"]);
  await here.signIn(account, "api", { ...HOME, clientAddress: "198.51.100.7" });
  const mails = await here.waitingMail(email);
  expect(mails).toHaveLength(2);
  expect(mails[0]?.text).toContain("- Device: Chrome on Windows");
  expect(mails[1]?.text).toContain("- Address: 198.51.100.7");
});
