import { beforeAll, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  acceptInvitation,
  createInvitation,
  listInvitations,
  listMembers,
  updateProject,
} from "@/lib/contracts/members";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testEmail } from "@/lib/dev/testing/factories";
import { refusalOf } from "@/lib/dev/testing/voters";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ devnet: false, worker: true });
});

const projectOf = async (session: TestSession): Promise<string> =>
  (await session.client.call(getMe)).projects[0]?.id ?? "";

const invite = (session: TestSession, email: string) =>
  withApproval(session.account, (approval) =>
    session.client.call(createInvitation, {
      body: { email, role: "viewer", ...(approval ? { approval } : {}) },
    }),
  );

const mailsOf = async (to: string) => (await api.services.inbox?.list({ to, limit: 50 })) ?? [];

test("a person without a verified address invites nobody, and is told so before a proof is asked for", async () => {
  const session = await api.signIn();
  const email = testEmail();
  const refused = await refusalOf(
    session.client.call(createInvitation, { body: { email, role: "viewer" } }),
  );
  expect(refused).toMatchObject({ status: 409, code: "invalid_state" });
  expect(refused.message).toContain("Verify an e-mail address");
  const projectId = await projectOf(session);
  const { prisma } = api.services.database;
  expect(await prisma.invitation.count({ where: { projectId } })).toBe(0);
  expect(await prisma.approval.count({ where: { projectId } })).toBe(0);
  expect(await prisma.mailOutbox.count({ where: { projectId } })).toBe(0);
});

test("strangers get five invitations an hour over all senders, and a refused one is neither stored nor mailed", async () => {
  const email = testEmail();
  const senders = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const session = await api.signIn();
      await api.verifiedEmail(session);
      return session;
    }),
  );
  const [last, ...first] = senders;
  for (const sender of first) await invite(sender, email);
  if (last === undefined) throw new Error("There is no sender.");
  const refused = await refusalOf(invite(last, email.replace("@", "+other@")));
  expect(refused).toMatchObject({ status: 429, code: "rate_limited" });
  expect((await last.client.call(listInvitations)).data).toEqual([]);
  await vi.waitFor(async () => expect(await mailsOf(email)).toHaveLength(5), {
    timeout: 20_000,
  });
});

test("a project is named by no web address, and the mail quotes its name and links to nothing but this service", async () => {
  const session = await api.signIn();
  await api.verifiedEmail(session);
  const params = { id: await projectOf(session) };
  const bait = "URGENT: account locked, verify at https://evil.example/login";
  const refused = await refusalOf(
    session.client.call(updateProject, { params, body: { name: bait } }),
  );
  expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
  expect(refused.details[0]).toMatchObject({ path: "name" });
  await session.client.call(updateProject, { params, body: { name: "Booking.com Ltd" } });
  const email = testEmail();
  await invite(session, email);
  await vi.waitFor(async () => expect(await mailsOf(email)).toHaveLength(1), {
    timeout: 20_000,
  });
  const text = (await mailsOf(email))[0]?.text ?? "";
  expect(text.replaceAll("\u2060", "")).toContain('the project "Booking.com Ltd"');
  expect(text).not.toContain("Booking.com");
  const links = text.match(/\w+:\/\/\S+|www\.\S+|[a-z0-9-]+\.[a-z]{2,}/gi) ?? [];
  expect(links).toEqual([
    expect.stringMatching(/^http:\/\/localhost:3000\/join#[0-9A-Za-z]{43}$/),
  ]);
});

test("a mailbox is invited and joins once, whatever the spelling of its address", async () => {
  const owner = await api.signIn();
  const own = await api.verifiedEmail(owner);
  expect(await refusalOf(invite(owner, own.replace("@", "+2@")))).toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  const guest = await api.signIn();
  const email = await api.verifiedEmail(guest);
  const tagged = email.replace("@", "+shop@");
  await invite(owner, email);
  await invite(owner, tagged.toUpperCase());
  expect((await owner.client.call(listInvitations)).data.map(({ status }) => status)).toEqual([
    "open",
    "withdrawn",
  ]);
  await vi.waitFor(async () => expect(await mailsOf(tagged)).toHaveLength(1), {
    timeout: 20_000,
  });
  const token = /#([0-9A-Za-z]{43})/.exec((await mailsOf(tagged))[0]?.text ?? "")?.[1] ?? "";
  // The person who verified the mailbox by another spelling is the one who was invited.
  expect(await guest.client.call(acceptInvitation, { body: { token } })).toMatchObject({
    role: "viewer",
  });
  expect((await owner.client.call(listMembers)).data).toHaveLength(2);
  const third = await refusalOf(invite(owner, email.replace("@", "+third@")));
  expect(third).toMatchObject({ status: 409, code: "invalid_state" });
});
