import { beforeAll, beforeEach, expect, test } from "vitest";
import type { UserActor } from "@/lib/core/actor";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import type { Mail } from "@/lib/platform/ports/mail";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});
// The counts are removed before each test, because the limits count addresses over all accounts,
// and the tests share addresses, a database and a start time.
beforeEach(() => database.prisma.codeLimit.deleteMany());

const setUp = async () => {
  const time = movableClock();
  const services = createAuthServices({ database, time });
  const { account, actor } = await newPerson(services);
  const codeOf = (mail: Mail | undefined): string => mail?.code ?? "";
  return {
    ...services,
    ...time,
    account,
    actor,
    newPerson: () => newPerson(services),
    /** Requests a code for the address, approved by the person's wallet signature. */
    mailCode: (email: string, person: Person = { account, actor }) =>
      mailCode(services, person, email),
    lastCode: () => codeOf(services.mails.at(-1)),
  };
};

type Services = ReturnType<typeof createAuthServices>;

interface Person {
  readonly account: ReturnType<Services["newAccount"]>;
  readonly actor: UserActor;
}

const newPerson = async (services: Services): Promise<Person> => {
  const account = services.newAccount();
  return { account, actor: await services.actorOf(await services.signIn(account)) };
};

const mailCode = (services: Services, { account, actor }: Person, email: string) =>
  services.mailCode(actor, email, account);

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

/** The body of a 409 `approval_required`. */
const asked = async (
  work: Promise<unknown>,
): Promise<{ approvalId: string; message: string }> => {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!isDomainError(error) || error.code !== "approval_required")
    throw new Error("No approval was asked for.");
  return { approvalId: String(error.extra.approvalId), message: error.message };
};

interface Signer {
  signMessage(of: { message: string }): Promise<string>;
}

const signed = async (account: Signer, work: Promise<unknown>) => {
  const { approvalId, message } = await asked(work);
  return { approvalId, signature: await account.signMessage({ message }) };
};

const otherThan = (code: string): string => (code === "000000" ? "000001" : "000000");

const from = (network: string) => ({
  requestId: "req_1",
  clientAddress: network,
  clientNetwork: network,
});

test("twenty concurrent accounts can mail one stranger at most five times within an hour, however they write the address", async () => {
  const { newPerson, mailCode, mails, advance } = await setUp();
  const people = await Promise.all(Array.from({ length: 20 }, newPerson));
  const spellings = [
    "victim@gmail.com",
    "Victim@gmail.com",
    "victim+1@gmail.com",
    "v.ictim@gmail.com",
  ];
  const asked = people.map((person, index) => mailCode(spellings[index % 4] ?? "", person));
  const outcomes = await Promise.all(asked.map(codeOf));
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(5);
  expect(outcomes.filter((outcome) => outcome === "rate_limited")).toHaveLength(15);
  expect(mails).toHaveLength(5);
  const late = await newPerson();
  await expect(mailCode("victim@gmail.com", late)).rejects.toMatchObject({
    retryAfterSeconds: 3600,
  });
  expect(await codeOf(mailCode("another@gmail.com", late))).toBe("ok");
  advance(3600);
  expect(await codeOf(mailCode("victim@gmail.com", late))).toBe("ok");
});

test("one client network gets at most sixty codes within an hour over all accounts and addresses; other networks are not affected", async () => {
  const { auth, newPerson, mailCode, mails } = await setUp();
  const personAt = async (network: string): Promise<Person> => {
    const { account, actor } = await newPerson();
    return { account, actor: { ...actor, request: from(network) } };
  };
  const people = await Promise.all(Array.from({ length: 61 }, () => personAt("198.51.100.7")));
  const approved = await Promise.all(
    people.map(async ({ account, actor }, index) => {
      const email = `stranger${String(index)}@example.com`;
      return { actor, email, approval: await signed(account, auth.setEmail(actor, email)) };
    }),
  );
  const asked = approved.map(({ actor, email, approval }) =>
    auth.setEmail(actor, email, approval),
  );
  const outcomes = await Promise.all(asked.map(codeOf));
  expect(outcomes.filter((outcome) => outcome === "rate_limited")).toHaveLength(1);
  expect(mails).toHaveLength(60);
  expect(await codeOf(mailCode("other@example.com", await personAt("198.51.100.8")))).toBe(
    "ok",
  );
});

test("codes that strangers request do not block a verified address", async () => {
  const { auth, actor, newPerson, mailCode, lastCode, advance } = await setUp();
  await mailCode("mine@example.com");
  await auth.verifyEmail(actor, lastCode());
  for (let account = 0; account < 4; account += 1)
    expect(await codeOf(mailCode("mine@example.com", await newPerson()))).toBe("ok");
  expect(await codeOf(mailCode("mine@example.com", await newPerson()))).toBe("rate_limited");
  advance(60);
  expect(await codeOf(auth.setEmail(actor, "mine@example.com"))).toBe("ok");
});

test("an address is verified once its mailed code is returned", async () => {
  const { auth, people, actor, mailCode, mails, lastCode } = await setUp();
  const { profile, verification } = await mailCode("Ada@Example.com");
  expect(profile).toMatchObject({ email: "ada@example.com", emailVerifiedAt: null });
  expect(verification).toEqual({
    destination: "a•••@example.com",
    expiresAt: new Date("2026-01-01T00:05:00Z"),
    resendAfter: new Date("2026-01-01T00:01:00Z"),
  });
  expect(mails).toHaveLength(1);
  expect(mails[0]).toMatchObject({ to: "ada@example.com" });
  expect(mails[0]?.text).toContain(lastCode());
  expect(await people.verifiedEmail(actor.userId)).toBeNull();
  const verified = await auth.verifyEmail(actor, lastCode());
  expect(verified).toMatchObject({
    email: "ada@example.com",
    emailVerifiedAt: new Date("2026-01-01T00:00:00Z"),
  });
  expect(await people.verifiedEmail(actor.userId)).toBe("ada@example.com");
  expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("otp_expired");
});

test("of 200 concurrent guesses five are evaluated, and the right code is refused afterwards", async () => {
  const { auth, people, actor, mailCode, lastCode } = await setUp();
  await mailCode("ada@example.com");
  const guess = otherThan(lastCode());
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, () => codeOf(auth.verifyEmail(actor, guess))),
  );
  expect(outcomes.filter((outcome) => outcome === "otp_invalid")).toHaveLength(5);
  expect(outcomes.filter((outcome) => outcome === "otp_attempts_exceeded")).toHaveLength(195);
  expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("otp_attempts_exceeded");
  expect(await people.verifiedEmail(actor.userId)).toBeNull();
});

test("the right code is accepted after four wrong ones", async () => {
  const { auth, actor, mailCode, lastCode } = await setUp();
  await mailCode("ada@example.com");
  for (let i = 0; i < 4; i++)
    expect(await codeOf(auth.verifyEmail(actor, otherThan(lastCode())))).toBe("otp_invalid");
  expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("ok");
});

test("many concurrent uses of the right code verify once", async () => {
  const { auth, actor, mailCode, lastCode } = await setUp();
  await mailCode("ada@example.com");
  const outcomes = await Promise.all(
    Array.from({ length: 5 }, () => codeOf(auth.verifyEmail(actor, lastCode()))),
  );
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
});

test("a code is good for five minutes, and for its own person alone", async () => {
  const { auth, actor, mailCode, newPerson, lastCode, advance } = await setUp();
  const { actor: eve } = await newPerson();
  await mailCode("ada@example.com");
  expect(await codeOf(auth.verifyEmail(eve, lastCode()))).toBe("otp_expired");
  advance(300);
  expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("otp_expired");
});

test("a new code is sent after a minute and replaces the old one", async () => {
  const { auth, actor, mailCode, mails, lastCode, advance } = await setUp();
  await mailCode("ada@example.com");
  const first = lastCode();
  advance(59.5);
  const early: unknown = await auth
    .setEmail(actor, "ada@example.com")
    .catch((error: unknown) => error);
  expect(early).toMatchObject({ code: "rate_limited", retryAfterSeconds: 1 });
  advance(0.5);
  await auth.setEmail(actor, "ada@example.com");
  expect(mails).toHaveLength(2);
  if (first !== lastCode())
    expect(await codeOf(auth.verifyEmail(actor, first))).toBe("otp_invalid");
  expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("ok");
});

test("twenty concurrent requests send one mail", async () => {
  const { auth, actor, mailCode, mails } = await setUp();
  const asked = Array.from({ length: 20 }, (_, i) => codeOf(mailCode(`ada${i}@example.com`)));
  const outcomes = await Promise.all(asked);
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "rate_limited")).toHaveLength(19);
  expect(mails).toHaveLength(1);
  expect((await auth.me(actor)).email).toBe(mails[0]?.to);
});

test("a verified address stays in use until the new one is verified, and gets a mail about the change", async () => {
  const { auth, people, actor, mailCode, account, mails, lastCode, advance } = await setUp();
  await mailCode("old@example.com");
  await auth.verifyEmail(actor, lastCode());
  advance(60);
  const approval = await signed(account, auth.setEmail(actor, "new@example.com"));
  const { profile } = await auth.setEmail(actor, "new@example.com", approval);
  expect(profile).toMatchObject({ email: "old@example.com" });
  expect(await people.verifiedEmail(actor.userId)).toBe("old@example.com");
  await auth.verifyEmail(actor, lastCode());
  expect(await people.verifiedEmail(actor.userId)).toBe("new@example.com");
  expect(mails.at(-1)).toMatchObject({
    to: "old@example.com",
    subject: "Your e-mail address was changed",
  });
  expect(mails.at(-1)?.text).not.toContain("new@example.com");
});

// An earlier rule accepted a token whose sign-in was less than five minutes old. An approval for
// exactly this address is stricter.
test("a token alone cannot redirect codes from a verified address, neither right after the sign-in nor later", async () => {
  const { auth, people, actor, mailCode, lastCode, advance } = await setUp();
  await mailCode("mine@example.com");
  await auth.verifyEmail(actor, lastCode());
  advance(60);
  expect(await codeOf(auth.setEmail(actor, "thief@example.com"))).toBe("approval_required");
  expect(await people.verifiedEmail(actor.userId)).toBe("mine@example.com");
});

test("the code that lets an address be replaced goes to the old address, and only then one to the new", async () => {
  const { auth, people, approvals, actor, mailCode, mails, lastCode, advance } = await setUp();
  await mailCode("old@example.com");
  await auth.verifyEmail(actor, lastCode());
  advance(60);
  const { approvalId, message } = await asked(auth.setEmail(actor, "new@example.com"));
  expect(message).toContain('New address: "new@example.com"');
  await approvals.requestCode(actor, approvalId);
  expect(mails.at(-1)).toMatchObject({ to: "old@example.com" });
  expect(mails.at(-1)?.text).toContain('New address: "new@example.com"');
  const approval = { approvalId, otp: lastCode() };
  expect(await codeOf(auth.setEmail(actor, "thief@example.com", approval))).toBe(
    "approval_required",
  );
  await auth.setEmail(actor, "new@example.com", approval);
  expect(mails.at(-1)).toMatchObject({ to: "new@example.com" });
  await auth.verifyEmail(actor, lastCode());
  expect(await people.verifiedEmail(actor.userId)).toBe("new@example.com");
  const entries = await database.prisma.auditEvent.findMany({
    where: { actor: actor.userId, action: { startsWith: "email." } },
    orderBy: { id: "asc" },
  });
  const first = (entries[0]?.data as { approvalId?: string } | undefined)?.approvalId;
  expect(first).toMatch(/^apr_/);
  expect(entries.map(({ action, data }) => [action, data])).toEqual([
    [
      "email.change_approved",
      { email: "o•••@example.com", approvalId: first, approvedBy: "signature" },
    ],
    ["email.verified", { email: "o•••@example.com", approvalId: first }],
    ["email.change_approved", { email: "n•••@example.com", approvalId, approvedBy: "code" }],
    ["email.verified", { email: "n•••@example.com", approvalId }],
  ]);
});

test("an approved code is mailed again without another approval, as long as the approval is valid", async () => {
  const { auth, actor, mailCode, account, mails, lastCode, advance } = await setUp();
  await mailCode("old@example.com");
  await auth.verifyEmail(actor, lastCode());
  advance(60);
  const approval = await signed(account, auth.setEmail(actor, "new@example.com"));
  await auth.setEmail(actor, "new@example.com", approval);
  advance(60);
  expect(await codeOf(auth.setEmail(actor, "other@example.com"))).toBe("approval_required");
  await auth.setEmail(actor, "new@example.com");
  expect(mails.at(-1)).toMatchObject({ to: "new@example.com" });
  advance(540);
  expect(await codeOf(auth.setEmail(actor, "new@example.com"))).toBe("approval_required");
});

test("a mail that fails does not use up the approval", async () => {
  let works = true;
  const sent: Mail[] = [];
  const send = (mail: Mail) =>
    works
      ? Promise.resolve(void sent.push(mail))
      : Promise.reject(new DomainError("provider_error", "away"));
  const time = movableClock();
  const services = createAuthServices({ database, time, mail: { id: "broken", send } });
  const { account, actor } = await newPerson(services);
  await mailCode(services, { account, actor }, "old@example.com");
  await services.auth.verifyEmail(actor, sent.at(-1)?.code ?? "");
  time.advance(60);
  const approval = await signed(account, services.auth.setEmail(actor, "new@example.com"));
  works = false;
  expect(await codeOf(services.auth.setEmail(actor, "new@example.com", approval))).toBe(
    "provider_error",
  );
  works = true;
  expect(await codeOf(services.auth.setEmail(actor, "new@example.com"))).toBe("ok");
  expect(sent.at(-1)).toMatchObject({ to: "new@example.com" });
});

test("a code that was mailed before another address was verified replaces nothing", async () => {
  const { auth, people, actor, mailCode, lastCode, advance } = await setUp();
  await mailCode("thief@example.com");
  const stale = await database.prisma.emailCode.findFirstOrThrow({
    where: { userId: actor.userId },
  });
  const code = lastCode();
  advance(60);
  await mailCode("mine@example.com");
  await auth.verifyEmail(actor, lastCode());
  // Simulates that the older code was stored a moment after the newer one was verified.
  await database.prisma.emailCode.update({
    where: { id: stale.id },
    data: { closedAt: null, createdAt: new Date("2026-01-01T00:01:01Z") },
  });
  expect(await codeOf(auth.verifyEmail(actor, code))).toBe("otp_expired");
  expect(await people.verifiedEmail(actor.userId)).toBe("mine@example.com");
});

test("when the mail cannot be sent the next try need not wait", async () => {
  let works = false;
  const send = () =>
    works ? Promise.resolve() : Promise.reject(new DomainError("provider_error", "away"));
  const services = createAuthServices({ database, mail: { id: "broken", send } });
  const person = await newPerson(services);
  expect(await codeOf(mailCode(services, person, "ada@example.com"))).toBe("provider_error");
  works = true;
  expect(await codeOf(services.auth.setEmail(person.actor, "ada@example.com"))).toBe("ok");
});

test("the database has no code in clear text", async () => {
  const { actor, mailCode, lastCode } = await setUp();
  await mailCode("ada@example.com");
  const row = await database.prisma.emailCode.findFirstOrThrow({
    where: { userId: actor.userId },
  });
  expect(row.codeHash).toHaveLength(32);
  expect(Buffer.from(row.codeHash).toString("latin1")).not.toContain(lastCode());
});
