import { beforeAll, describe, expect, test } from "vitest";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/db/client";
import type { Mail } from "@/lib/ports/mail";
import { createAuthServices, movableClock } from "@/lib/testing/auth-services";
import { testDatabase } from "@/lib/testing/database";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const setUp = async () => {
  const time = movableClock();
  const services = createAuthServices({ database, time });
  const actor = await services.actorOf(await services.signIn());
  const codeOf = (mail: Mail | undefined): string => mail?.code ?? "";
  return { ...services, ...time, actor, lastCode: () => codeOf(services.mails.at(-1)) };
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

const otherThan = (code: string): string => (code === "000000" ? "000001" : "000000");

describe("e-mail verification", () => {
  test("mails a code and counts the address once the code came back", async () => {
    const { auth, actor, mails, lastCode } = await setUp();
    const { profile, verification } = await auth.setEmail(actor, "Ada@Example.com");
    expect(profile).toMatchObject({ email: "ada@example.com", emailVerifiedAt: null });
    expect(verification).toEqual({
      destination: "a•••@example.com",
      expiresAt: new Date("2026-01-01T00:05:00Z"),
      resendAfter: new Date("2026-01-01T00:01:00Z"),
    });
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatchObject({ to: "ada@example.com" });
    expect(mails[0]?.text).toContain(lastCode());
    expect(await auth.verifiedEmail(actor.userId)).toBeNull();
    const verified = await auth.verifyEmail(actor, lastCode());
    expect(verified).toMatchObject({ email: "ada@example.com", emailVerifiedAt: new Date("2026-01-01T00:00:00Z") });
    expect(await auth.verifiedEmail(actor.userId)).toBe("ada@example.com");
    expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("otp_expired");
  });

  test("of 200 guesses at once five are evaluated, and then the right code is too late", async () => {
    const { auth, actor, lastCode } = await setUp();
    await auth.setEmail(actor, "ada@example.com");
    const guess = otherThan(lastCode());
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => codeOf(auth.verifyEmail(actor, guess))));
    expect(outcomes.filter((outcome) => outcome === "otp_invalid")).toHaveLength(5);
    expect(outcomes.filter((outcome) => outcome === "otp_attempts_exceeded")).toHaveLength(195);
    expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("otp_attempts_exceeded");
    expect(await auth.verifiedEmail(actor.userId)).toBeNull();
  });

  test("the right code after four wrong ones is right", async () => {
    const { auth, actor, lastCode } = await setUp();
    await auth.setEmail(actor, "ada@example.com");
    for (let i = 0; i < 4; i++)
      expect(await codeOf(auth.verifyEmail(actor, otherThan(lastCode())))).toBe("otp_invalid");
    expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("ok");
  });

  test("the right code many times at once counts once", async () => {
    const { auth, actor, lastCode } = await setUp();
    await auth.setEmail(actor, "ada@example.com");
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => codeOf(auth.verifyEmail(actor, lastCode()))));
    expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
  });

  test("a code is good for five minutes, and for its own person alone", async () => {
    const { auth, actor, lastCode, advance, actorOf, signIn } = await setUp();
    const eve = await actorOf(await signIn());
    await auth.setEmail(actor, "ada@example.com");
    expect(await codeOf(auth.verifyEmail(eve, lastCode()))).toBe("otp_expired");
    advance(300);
    expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("otp_expired");
  });

  test("a new code is sent after a minute and replaces the old one", async () => {
    const { auth, actor, mails, lastCode, advance } = await setUp();
    await auth.setEmail(actor, "ada@example.com");
    const first = lastCode();
    advance(59.5);
    const early: unknown = await auth.setEmail(actor, "ada@example.com").catch((error: unknown) => error);
    expect(early).toMatchObject({ code: "rate_limited", retryAfterSeconds: 1 });
    advance(0.5);
    await auth.setEmail(actor, "ada@example.com");
    expect(mails).toHaveLength(2);
    if (first !== lastCode()) expect(await codeOf(auth.verifyEmail(actor, first))).toBe("otp_invalid");
    expect(await codeOf(auth.verifyEmail(actor, lastCode()))).toBe("ok");
  });

  test("asked for twenty times at once, one mail goes out", async () => {
    const { auth, actor, mails } = await setUp();
    const asked = Array.from({ length: 20 }, (_, i) => codeOf(auth.setEmail(actor, `ada${i}@example.com`)));
    const outcomes = await Promise.all(asked);
    expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "rate_limited")).toHaveLength(19);
    expect(mails).toHaveLength(1);
    expect((await auth.me(actor)).email).toBe(mails[0]?.to);
  });

  test("a verified address stays in use until the new one is verified, and is told of the change", async () => {
    const { auth, actor, mails, lastCode, advance } = await setUp();
    await auth.setEmail(actor, "old@example.com");
    await auth.verifyEmail(actor, lastCode());
    advance(60);
    const { profile } = await auth.setEmail(actor, "new@example.com");
    expect(profile).toMatchObject({ email: "old@example.com" });
    expect(await auth.verifiedEmail(actor.userId)).toBe("old@example.com");
    await auth.verifyEmail(actor, lastCode());
    expect(await auth.verifiedEmail(actor.userId)).toBe("new@example.com");
    expect(mails.at(-1)).toMatchObject({ to: "old@example.com", subject: "Your e-mail address was changed" });
    expect(mails.at(-1)?.text).not.toContain("new@example.com");
  });

  test("a token that is older than five minutes turns no codes away from a verified address", async () => {
    const { auth, actor, lastCode, advance } = await setUp();
    advance(3600);
    await auth.setEmail(actor, "mine@example.com");
    await auth.verifyEmail(actor, lastCode());
    advance(60);
    expect(await codeOf(auth.setEmail(actor, "thief@example.com"))).toBe("forbidden");
    expect(await auth.verifiedEmail(actor.userId)).toBe("mine@example.com");
  });

  test("when the mail cannot be sent the next try need not wait", async () => {
    let works = false;
    const send = () => (works ? Promise.resolve() : Promise.reject(new DomainError("provider_error", "away")));
    const services = createAuthServices({ database, mail: { id: "broken", send } });
    const actor = await services.actorOf(await services.signIn());
    expect(await codeOf(services.auth.setEmail(actor, "ada@example.com"))).toBe("provider_error");
    works = true;
    expect(await codeOf(services.auth.setEmail(actor, "ada@example.com"))).toBe("ok");
  });

  test("no code lies in the database as it is", async () => {
    const { auth, actor, lastCode } = await setUp();
    await auth.setEmail(actor, "ada@example.com");
    const row = await database.prisma.emailCode.findFirstOrThrow({ where: { userId: actor.userId } });
    expect(row.codeHash).toHaveLength(32);
    expect(Buffer.from(row.codeHash).toString("latin1")).not.toContain(lastCode());
  });
});
