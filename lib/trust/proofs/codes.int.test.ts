import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Actor, ApiKeyActor, UserActor } from "@/lib/core/actor";
import { addSeconds } from "@/lib/core/clock";
import { CODE_LIMITS, createCodeLimits } from "./code-limits";
import { testDatabase } from "@/lib/dev/testing/database";
import { createOtpRepository } from "./codes-repository";
import { createOtpService, type OtpService } from "./codes";

const CODE = "123456";
const WRONG = "000000";
let now = new Date("2026-01-01T00:00:00Z");
let services: readonly OtpService[] = [];
let mailerWorks = true;
const noFactors = () => Promise.reject(new Error("No factors."));
beforeAll(async () => {
  const { database } = await testDatabase();
  const limits = createCodeLimits({ limitNetworks: true });
  const one = (): OtpService =>
    createOtpService({
      repository: createOtpRepository(database, limits),
      mailer: {
        id: "none",
        send: () => (mailerWorks ? Promise.resolve() : Promise.reject(new Error("away"))),
      },
      clock: { now: () => now },
      secondFactors: { consume: noFactors, askPasskey: noFactors },
      secrets: {
        code: () => CODE,
        hash: (purpose, text) => Buffer.from(`${purpose}:${text}`),
        matches: (purpose, text, stored) => Buffer.from(`${purpose}:${text}`).equals(stored),
        equals: (a, b) => Buffer.from(a).equals(b),
      },
      contacts: {
        codeAddress: () => Promise.resolve({ email: "ada@example.org", heldUntil: null }),
      },
    });
  services = [one(), one()];
});

const serviceAt = (index: number): OtpService => {
  const service = services[index % services.length];
  if (service === undefined) throw new Error("There is no service.");
  return service;
};
const digest = new Uint8Array(randomBytes(32));
const newPerson = (): UserActor => {
  const id = randomUUID();
  return {
    type: "user",
    userId: `usr_${id}`,
    sessionId: `ses_${id}`,
    projectId: "prj_1",
    role: "owner",
  };
};
const keyOf = ({ userId: createdBy, projectId }: UserActor): ApiKeyActor => ({
  type: "apiKey",
  keyId: `key_${randomUUID()}`,
  projectId,
  createdBy,
  scopes: ["swaps:write"],
  policy: { otp: "required", dailyCapUsd: null, recipients: [] },
});
const ask = (actor: Actor, subjectId: string) =>
  serviceAt(0).request({ actor, subjectId, digest, subject: "Code", lines: [] });
const guess = (actor: Actor, subjectId: string, code = WRONG, at = 0) =>
  serviceAt(at)
    .consume({ actor, subjectId, digest, code })
    .then(
      () => "ok",
      (error: unknown) => (error as { code?: string }).code ?? "",
    );
const count = (answers: readonly string[], answer: string): number =>
  answers.filter((each) => each === answer).length;

test("a person has 20 wrong guesses within an hour, over all subjects and instances together", async () => {
  const person = newPerson();
  const subjects = Array.from({ length: 6 }, () => randomUUID());
  for (const subjectId of subjects) await ask(person, subjectId);
  const guesses = subjects
    .slice(0, 5)
    .flatMap((subjectId) => Array.from({ length: 5 }, () => subjectId));
  const answers = await Promise.all(
    guesses.map((subjectId, index) => guess(person, subjectId, WRONG, index)),
  );
  expect(count(answers, "otp_invalid")).toBe(20);
  expect(count(answers, "otp_attempts_exceeded")).toBe(5);
  const right = { actor: person, subjectId: subjects[5] ?? "", digest, code: CODE };
  await expect(serviceAt(1).consume(right)).rejects.toMatchObject({
    code: "otp_attempts_exceeded",
    retryAfterSeconds: 3600,
  });
  now = addSeconds(now, 3600);
  await ask(person, right.subjectId);
  await serviceAt(0).consume(right);
});

test("a code approves its own subject and data, for its own person, once and in time, and nothing after five wrong tries", async () => {
  const [person, colleague] = [newPerson(), newPerson()];
  const [subjectId, otherSubject] = [randomUUID(), randomUUID()];
  await ask(person, subjectId);
  expect(await guess(person, otherSubject, CODE)).toBe("otp_required");
  expect(await guess(colleague, subjectId, CODE)).toBe("otp_required");
  const changed = {
    actor: person,
    subjectId,
    digest: new Uint8Array(randomBytes(32)),
    code: CODE,
  };
  await expect(serviceAt(0).consume(changed)).rejects.toMatchObject({ code: "otp_invalid" });
  expect(await guess(person, subjectId, CODE)).toBe("ok");
  expect(await guess(person, subjectId, CODE)).toBe("otp_invalid");

  const late = randomUUID();
  await ask(person, late);
  now = addSeconds(now, 300);
  expect(await guess(person, late, CODE)).toBe("otp_expired");

  const guessed = randomUUID();
  await ask(person, guessed);
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(await guess(person, guessed)).toBe("otp_invalid");
  expect(await guess(person, guessed, CODE)).toBe("otp_attempts_exceeded");
});

test("correct codes do not count as wrong guesses, and a person gets at most 60 codes within an hour", async () => {
  const [person, other] = [newPerson(), newPerson()];
  for (let sent = 0; sent < 60; sent += 1) {
    const subjectId = randomUUID();
    await ask(person, subjectId);
    expect(await guess(person, subjectId, CODE, sent)).toBe("ok");
  }
  await expect(ask(person, randomUUID())).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterSeconds: 3600,
  });
  await ask(other, randomUUID());
  now = addSeconds(now, 3600);
  await ask(person, randomUUID());
});

test("wrong guesses of an API key lock only that key, never the person who created it", async () => {
  const person = newPerson();
  const key = keyOf(person);
  for (let subject = 0; subject < 4; subject += 1) {
    const subjectId = randomUUID();
    await ask(key, subjectId);
    for (let attempt = 0; attempt < 5; attempt += 1)
      expect(await guess(key, subjectId)).toBe("otp_invalid");
  }
  const [ofKey, ofPerson] = [randomUUID(), randomUUID()];
  await ask(key, ofKey);
  expect(await guess(key, ofKey, CODE)).toBe("otp_attempts_exceeded");
  await ask(person, ofPerson);
  expect(await guess(person, ofPerson, CODE)).toBe("ok");
  expect(await guess(person, ofKey, CODE)).toBe("ok");
});

test("an API key cannot use, use up, replace or delay a code that a person requested", async () => {
  const person = newPerson();
  const key = keyOf(person);
  const subjectId = randomUUID();
  await ask(person, subjectId);
  expect(await guess(key, subjectId, CODE)).toBe("otp_required");
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(await guess(key, subjectId)).toBe("otp_required");
  await ask(key, subjectId);
  for (let attempt = 0; attempt < 5; attempt += 1)
    expect(await guess(key, subjectId)).toBe("otp_invalid");
  expect(await guess(key, subjectId)).toBe("otp_attempts_exceeded");
  expect(await guess(person, subjectId, CODE)).toBe("ok");
  const second = randomUUID();
  await ask(key, second);
  await ask(person, second);
  await expect(ask(person, second)).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterSeconds: 60,
  });
});

test("a code that a key requested is valid for that key and for the person to whom it was mailed, and for no other actor", async () => {
  const [person, colleague] = [newPerson(), newPerson()];
  const [key, other] = [keyOf(person), keyOf(person)];
  const [first, second] = [randomUUID(), randomUUID()];
  await ask(key, first);
  await ask(key, second);
  expect(await guess(other, first, CODE)).toBe("otp_required");
  expect(await guess(colleague, first, CODE)).toBe("otp_required");
  expect(await guess({ ...person, projectId: "prj_2" }, first, CODE)).toBe("otp_required");
  expect(await guess(key, first, CODE)).toBe("ok");
  expect(await guess(person, second, CODE)).toBe("ok");
  expect(await guess(key, second, CODE)).toBe("otp_invalid");
});

test("of 200 concurrent guesses by a person and a key on two instances, five are evaluated for each code", async () => {
  const person = newPerson();
  const key = keyOf(person);
  const subjectId = randomUUID();
  await ask(person, subjectId);
  await ask(key, subjectId);
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      guess(index % 2 === 0 ? person : key, subjectId, WRONG, index >> 1),
    ),
  );
  const [byPerson, byKey] = [0, 1].map((rest) =>
    answers.filter((_, index) => index % 2 === rest),
  ) as [string[], string[]];
  // Guesses of the key never count for the person's code, but guesses of the person count for the
  // key's code as well.
  expect(count(byPerson, "otp_invalid")).toBe(5);
  expect(count(byKey, "otp_invalid")).toBeLessThanOrEqual(5);
  expect(new Set(answers)).toEqual(new Set(["otp_invalid", "otp_attempts_exceeded"]));
});

test("codes that keys request have their own limits and do not count towards a person's limits", async () => {
  const person = newPerson();
  const [one, two, three] = [keyOf(person), keyOf(person), keyOf(person)];
  for (let sent = 0; sent < CODE_LIMITS.apiKey; sent += 1) await ask(one, randomUUID());
  await expect(ask(one, randomUUID())).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterSeconds: 3600,
  });
  for (let sent = 0; sent < CODE_LIMITS.apiKeysOfPerson - CODE_LIMITS.apiKey; sent += 1)
    await ask(two, randomUUID());
  await expect(ask(three, randomUUID())).rejects.toMatchObject({ code: "rate_limited" });
  await ask(person, randomUUID());
});

test("a code that could not be mailed counts towards no limit", async () => {
  const person = newPerson();
  const subjectId = randomUUID();
  mailerWorks = false;
  for (let tried = 0; tried <= CODE_LIMITS.person; tried += 1)
    await expect(ask(person, subjectId)).rejects.toThrow("away");
  mailerWorks = true;
  await ask(person, subjectId);
  expect(await guess(person, subjectId, CODE)).toBe("ok");
});

test("one client network gets at most 600 codes to verified addresses within an hour, for any number of people", async () => {
  const request = {
    requestId: "req_1",
    clientAddress: "198.51.100.7",
    clientNetwork: "198.51.100.7",
  };
  for (let people = 0; people < CODE_LIMITS.networkVerified / CODE_LIMITS.person; people += 1) {
    const person = { ...newPerson(), request };
    // Ten at once: each waits for the lock of the network's count, and a connection for 10 s at most.
    for (let asked = 0; asked < CODE_LIMITS.person; asked += 10)
      await Promise.all(Array.from({ length: 10 }, () => ask(person, randomUUID())));
  }
  const next = newPerson();
  await expect(ask({ ...next, request }, randomUUID())).rejects.toMatchObject({
    code: "rate_limited",
    retryAfterSeconds: 3600,
  });
  await ask(next, randomUUID());
});
