import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { addSeconds } from "@/lib/core/clock";
import { testDatabase } from "@/lib/testing/database";
import { createOtpRepository } from "./repository";
import { createOtpService, type OtpService } from "./service";

const CODE = "123456";
let now = new Date("2026-01-01T00:00:00Z");
let services: readonly OtpService[] = [];
beforeAll(async () => {
  const { database } = await testDatabase();
  const one = (): OtpService =>
    createOtpService({
      repository: createOtpRepository(database),
      mailer: { id: "none", send: () => Promise.resolve() },
      clock: { now: () => now },
      secrets: {
        code: () => CODE,
        hash: (purpose, text) => Buffer.from(`${purpose}:${text}`),
        matches: (purpose, text, stored) => Buffer.from(`${purpose}:${text}`).equals(stored),
        equals: (a, b) => Buffer.from(a).equals(b),
      },
      contacts: { verifiedEmail: () => Promise.resolve("ada@example.org") },
    });
  services = [one(), one()];
});

const serviceAt = (index: number): OtpService => {
  const service = services[index % services.length];
  if (service === undefined) throw new Error("There is no service.");
  return service;
};
const digest = new Uint8Array(randomBytes(32));
const ask = (userId: string, subjectId: string) =>
  serviceAt(0).request({ projectId: "prj_1", userId, subjectId, digest, subject: "Code", lines: [] });
const codeOf = (error: unknown) => (error as { code?: string }).code ?? "";

test("a person has 20 wrong guesses within an hour, over all that is to be approved and all instances", async () => {
  const userId = randomUUID();
  const subjects = Array.from({ length: 6 }, () => randomUUID());
  for (const subjectId of subjects) await ask(userId, subjectId);
  const guesses = subjects.slice(0, 5).flatMap((subjectId) => Array.from({ length: 5 }, () => subjectId));
  const answers = await Promise.all(
    guesses.map((subjectId, index) => serviceAt(index).consume({ subjectId, digest, code: "000000" }).catch(codeOf)),
  );
  expect(answers.filter((code) => code === "otp_invalid")).toHaveLength(20);
  expect(answers.filter((code) => code === "otp_attempts_exceeded")).toHaveLength(5);
  const right = { subjectId: subjects[5] ?? "", digest, code: CODE };
  await expect(serviceAt(1).consume(right)).rejects.toMatchObject({
    code: "otp_attempts_exceeded",
    retryAfterSeconds: 3600,
  });
  now = addSeconds(now, 3600);
  await ask(userId, right.subjectId);
  await serviceAt(0).consume(right);
});

test("right codes are no wrong guesses; of codes a person gets 60 within an hour", async () => {
  const [userId, other] = [randomUUID(), randomUUID()];
  for (let sent = 0; sent < 60; sent += 1) {
    const subjectId = randomUUID();
    await ask(userId, subjectId);
    await serviceAt(sent).consume({ subjectId, digest, code: CODE });
  }
  await expect(ask(userId, randomUUID())).rejects.toMatchObject({ code: "rate_limited", retryAfterSeconds: 3600 });
  await ask(other, randomUUID());
  now = addSeconds(now, 3600);
  await ask(userId, randomUUID());
});
