/** The daily mail to owners about contacts that nobody has approved. */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  approveContact,
  createContact,
  deleteContact,
  updateContact,
} from "@/lib/contracts/contacts";
import { createServices } from "@/lib/composition";
import { startWorker } from "@/lib/workers/runner";
import { testApi, type TestApiKey, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { newMember } from "@/lib/dev/testing/voters";

const DAY_MS = 24 * 3_600_000;
const moved = { ms: 0 };
const clock = { now: () => new Date(Date.now() + moved.ms) };
const api = await testApi({ overrides: { clock } });
const { prisma } = api.services.database;
const second = createServices(api.services.config, { clock });
afterAll(() => second.close());

let owner: TestSession;
let email = "";
let otherOwner = "";
let adminEmail = "";
let projectId = "";
let jobId = "";
let key: TestApiKey;

beforeAll(async () => {
  owner = await api.signIn();
  email = await api.verifiedEmail(owner);
  projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  jobId = `${projectId}/contact-digest`;
  otherOwner = (await newMember(api, projectId, "owner")).email;
  adminEmail = (await newMember(api, projectId, "admin")).email;
  key = await api.createKey(owner);
});

beforeEach(async () => {
  moved.ms = 0;
  await prisma.mailOutbox.deleteMany({});
  await prisma.contact.deleteMany({});
});

const propose = (name: string) =>
  key.client.call(createContact, {
    body: { name, address: testAccount().address, chainIds: [31337] },
  });
const approve = (id: string) =>
  withApproval(owner.account, (approval) =>
    owner.client.call(approveContact, { params: { id }, body: approval ? { approval } : {} }),
  );
/** A turn of the job on two instances at the same time. */
const turns = () =>
  Promise.all([api.services, second].map(({ contactDigest }) => contactDigest.run(jobId)));
const mails = (to: string) =>
  prisma.mailOutbox.findMany({ where: { projectId, to }, orderBy: { id: "asc" } });
const job = () => prisma.job.findUnique({ where: { id: jobId } });

test("owners get one mail about all that was proposed since the last one, with names as quoted text, whichever instance sends it", async () => {
  const eve = await propose('Payroll Ltd" - "Approved" by evil.example');
  const ada = await propose("Ada");
  const shop = await propose("Shop");
  const gone = await propose("Gone");
  await approve(shop.id);
  await owner.client.call(deleteContact, { params: { id: gone.id } });
  const due = (await job())?.runAt;
  expect([due?.getUTCHours(), due?.getUTCMinutes()]).toEqual([7, 0]);

  await turns();
  const [mail, ...more] = await mails(email);
  expect(more).toEqual([]);
  expect(await mails(otherOwner)).toHaveLength(1);
  expect(await mails(adminEmail)).toEqual([]);
  expect(mail?.subject).toBe("2 contacts wait for approval");
  expect(mail?.text).toContain(`- "Ada", ${ada.address}, proposed by ${key.id} on `);
  expect(mail?.text).toContain(`- ${JSON.stringify(eve.name)}, ${eve.address}`);
  expect(mail?.text).not.toContain("Shop");
  expect(mail?.text).not.toContain("Gone");
});

test("an approved contact that was changed is in the next mail, a contact that was mailed is not, and a day without proposals has no mail", async () => {
  const shop = await propose("Shop");
  await propose("Ada");
  await approve(shop.id);
  await turns();
  expect(await mails(email)).toMatchObject([{ subject: "1 contact waits for approval" }]);

  await key.client.call(updateContact, { params: { id: shop.id }, body: { name: "Shop Ltd" } });
  moved.ms += DAY_MS;
  await turns();
  const [, changed] = await mails(email);
  expect(changed?.text).toContain('"Shop Ltd"');
  expect(changed?.text).not.toContain("Ada");

  moved.ms += DAY_MS;
  await turns();
  expect(await mails(email)).toHaveLength(2);
  expect(await job()).toBeNull();
});

test("a contact that is proposed while the mail is sent is in that mail or the next one", async () => {
  await propose("First");
  const late = Array.from({ length: 8 }, (_, index) => propose(`Late ${String(index)}`));
  await Promise.all([turns(), ...late]);
  expect(await job()).not.toBeNull();
  await turns();
  const text = (await mails(email)).map((mail) => mail.text).join("\n");
  for (let index = 0; index < 8; index += 1)
    expect(text.split(`"Late ${String(index)}"`)).toHaveLength(2);
});

test("workers of two instances send one mail when it is due, and no other one on the same day", async () => {
  await propose("Payroll Ltd");
  const workers = [api.services, second].map((services) =>
    startWorker(services, { searchesDeposits: false }),
  );
  try {
    await prisma.job.update({
      where: { id: jobId },
      data: { runAt: new Date(Date.now() - 1000) },
    });
    const sent = async () =>
      ((await api.services.inbox?.list({ to: email, limit: 100 })) ?? []).filter(({ text }) =>
        text.includes('"Payroll Ltd"'),
      );
    await vi.waitFor(async () => expect(await sent()).toHaveLength(1), { timeout: 30_000 });
    await propose("Later");
    await vi.waitFor(async () => expect((await job())?.lockedBy).toBeNull(), {
      timeout: 30_000,
    });
    // The next mail waits for the next day.
    expect((await job())?.runAt.getUTCHours()).toBe(7);
    expect(await sent()).toHaveLength(1);
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
  }
}, 120_000);
