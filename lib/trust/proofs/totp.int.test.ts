import { beforeAll, describe, expect, test } from "vitest";
import type { UserActor } from "@/lib/core/actor";
import { DomainError, isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import type { Change, GivenApproval } from "./approvals";
import { CODE_LIMITS } from "./code-limits";
import {
  createAuthServices,
  movableClock,
  withSignature,
} from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testEmail } from "@/lib/dev/testing/factories";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import { stepAt, totpCode } from "./totp";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

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

const CHANGE = {
  kind: "policy.update" as const,
  title: "Let more pass",
  lines: ["Limit: 2 (now 1)"],
  values: { to: 2 },
};

/** A person who signed in, with a verified address. */
const person = async (here: Instance) => {
  const account = here.newAccount();
  const actor = await here.actorOf(await here.signIn(account));
  const email = testEmail();
  await database.prisma.user.update({
    where: { id: actor.userId },
    data: { email, emailVerifiedAt: here.clock.now() },
  });
  const signed = <T>(change: (given?: GivenApproval) => Promise<T>): Promise<T> =>
    withSignature(account, change);
  return { actor, email, signed };
};

/** A person with a confirmed authenticator app. */
const enrolled = async (here: Instance) => {
  const { actor, email, signed } = await person(here);
  const { secret } = await signed((given) => here.factors.startTotp(actor, given));
  const codeAt = (steps = 0) => totpCode(fromBase32(secret), stepAt(here.clock.now()) + steps);
  const recoveryCodes = await here.factors.confirmTotp(actor, codeAt());
  // The code that confirmed the app was used.
  here.advance(30);
  return { actor, email, signed, codeAt, recoveryCodes };
};

const ask = async (
  { approvals }: Instance,
  actor: UserActor,
  change: Change = CHANGE,
): Promise<string> => {
  const error: unknown = await approvals
    .requireApproval(actor, change, undefined)
    .catch((refused: unknown) => refused);
  if (!(error instanceof DomainError)) throw new Error("No approval was asked for.");
  return String(error.extra.approvalId);
};

const approve = async (
  here: Instance,
  actor: UserActor,
  proof: Omit<GivenApproval, "approvalId">,
  change: Change = CHANGE,
) => {
  const approvalId = await ask(here, actor, change);
  return codeOf(here.approvals.requireApproval(actor, change, { approvalId, ...proof }));
};

/** A change that replaces a lost factor; a recovery code may approve it. */
const RECOVERY: Change = {
  kind: "passkey.add",
  title: "Add a passkey",
  lines: ['Name: "Laptop"'],
  values: { name: "Laptop" },
};
const recover = (here: Instance, actor: UserActor, recoveryCode: string | undefined) =>
  approve(here, actor, { recoveryCode }, RECOVERY);

describe("setting an authenticator app up", () => {
  test("it needs an approval, and counts once its code confirms it", async () => {
    const here = setUp();
    const { actor, email, signed } = await person(here);
    expect(await codeOf(here.factors.startTotp(actor, undefined))).toBe("approval_required");
    const { secret, uri } = await signed((given) => here.factors.startTotp(actor, given));
    expect(uri).toContain(`secret=${secret}&issuer=Causeway%20(localhost%3A3000)`);
    const code = totpCode(fromBase32(secret), stepAt(here.clock.now()));
    expect(await approve(here, actor, { totp: code })).toBe("invalid_state");
    expect(await here.factors.get(actor)).toEqual({ totpSince: null, recoveryCodesLeft: 0 });
    const wrong = code === "000000" ? "000001" : "000000";
    expect(await codeOf(here.factors.confirmTotp(actor, wrong))).toBe("otp_invalid");
    const codes = await here.factors.confirmTotp(actor, code);
    expect(new Set(codes).size).toBe(10);
    expect(await here.factors.get(actor)).toEqual({
      totpSince: here.clock.now(),
      recoveryCodesLeft: 10,
    });
    expect((await here.waitingMail(email)).map(({ subject }) => subject)).toEqual([
      "Your Causeway account: an authenticator app was added",
    ]);
    expect(await codeOf(here.factors.confirmTotp(actor, code))).toBe("invalid_state");
    expect(await approve(here, actor, { totp: code })).toBe("otp_invalid");
    expect(await codeOf(here.factors.startTotp(actor, undefined))).toBe("invalid_state");
  });

  test("a secret that was not confirmed within ten minutes is refused", async () => {
    const here = setUp();
    const { actor, signed } = await person(here);
    const { secret } = await signed((given) => here.factors.startTotp(actor, given));
    here.advance(600);
    const code = totpCode(fromBase32(secret), stepAt(here.clock.now()));
    expect(await codeOf(here.factors.confirmTotp(actor, code))).toBe("invalid_state");
  });

  test("the database has neither the secret nor a recovery code in clear text", async () => {
    const here = setUp();
    const { actor, recoveryCodes } = await enrolled(here);
    const row = await database.prisma.totpFactor.findUniqueOrThrow({
      where: { userId: actor.userId },
    });
    expect(row.secretEncrypted.length).toBeGreaterThan(20);
    const stored = JSON.stringify(
      await database.prisma.recoveryCode.findMany({ where: { userId: actor.userId } }),
    );
    for (const code of recoveryCodes) expect(stored).not.toContain(code);
  });
});

describe("approving by the authenticator app", () => {
  test("a code approves once, also when its step is still now", async () => {
    const here = setUp();
    const { actor, codeAt } = await enrolled(here);
    expect(await approve(here, actor, { totp: codeAt() })).toBe("ok");
    expect(await approve(here, actor, { totp: codeAt() })).toBe("otp_invalid");
    here.advance(30);
    expect(await approve(here, actor, { totp: codeAt() })).toBe("ok");
    // A later step was used, so an earlier one is refused although it is within the tolerance.
    expect(await approve(here, actor, { totp: codeAt(-1) })).toBe("otp_invalid");
    expect(await approve(here, actor, { totp: codeAt(1) })).toBe("ok");
  });

  test("of two requests that use one step at once on two instances, one wins", async () => {
    const time = movableClock();
    const [here, there] = [setUp(time), setUp(time)];
    const { actor, codeAt } = await enrolled(here);
    const outcomes = await Promise.all([
      approve(here, actor, { totp: codeAt() }),
      approve(there, actor, { totp: codeAt() }),
      approve(here, actor, { totp: codeAt() }),
      approve(there, actor, { totp: codeAt() }),
    ]);
    expect(outcomes.sort()).toEqual(["ok", "otp_invalid", "otp_invalid", "otp_invalid"]);
  });

  test("what was approved is recorded with its digest, and nothing else is approved by it", async () => {
    const here = setUp();
    const { actor, codeAt } = await enrolled(here);
    const approvalId = await ask(here, actor);
    const other = { ...CHANGE, values: { to: 3 } };
    const given = { approvalId, totp: codeAt() };
    expect(await codeOf(here.approvals.requireApproval(actor, other, given))).toBe(
      "approval_required",
    );
    expect((await here.approvals.requireApproval(actor, CHANGE, given)).record).toEqual({
      approvalId,
      approvedBy: "totp",
    });
    const approval = await database.prisma.approval.findFirstOrThrow({
      where: { id: approvalId },
    });
    const used = await database.prisma.auditEvent.findMany({
      where: { subject: approvalId, action: "factor.used" },
    });
    expect(used).toMatchObject([
      {
        actor: actor.userId,
        data: { means: "totp", digest: Buffer.from(approval.digest).toString("hex") },
      },
    ]);
  });

  test("wrong codes count against the hourly limit, with mailed ones; then a right one is refused too", async () => {
    const here = setUp();
    const { actor, codeAt } = await enrolled(here);
    const wrong = ["000000", "000001", "000002", "000003"].find(
      (code) => ![codeAt(-1), codeAt(), codeAt(1)].includes(code),
    );
    const tries = Array.from({ length: CODE_LIMITS.wrongGuesses }, () =>
      approve(here, actor, { totp: wrong }),
    );
    expect(new Set(await Promise.all(tries))).toEqual(new Set(["otp_invalid"]));
    expect(await approve(here, actor, { totp: codeAt() })).toBe("otp_attempts_exceeded");
    here.advance(3601);
    expect(await approve(here, actor, { totp: codeAt() })).toBe("ok");
  });

  test("an API key does not approve by its maker's app", async () => {
    const here = setUp();
    const { actor, codeAt } = await enrolled(here);
    const key = {
      type: "apiKey",
      keyId: "key_1",
      projectId: actor.projectId,
      createdBy: actor.userId,
      scopes: [],
      policy: { otp: "required", dailyCapUsd: null, recipients: [] },
    } as const;
    const use = {
      actor: key,
      subjectId: "qt_1",
      digest: new Uint8Array(32),
      code: { totp: codeAt() },
    };
    expect(await codeOf(here.otp.consume(use))).toBe("forbidden");
  });
});

describe("recovery codes", () => {
  test("each approves once, in any writing, and wrong ones are limited", async () => {
    const here = setUp();
    const { actor, recoveryCodes } = await enrolled(here);
    const [first = "", second = ""] = recoveryCodes;
    const writing = first.toUpperCase().replaceAll("-", " ");
    const outcomes = await Promise.all([
      recover(here, actor, writing),
      recover(here, actor, first),
    ]);
    expect(outcomes.sort()).toEqual(["ok", "otp_invalid"]);
    expect(await here.factors.get(actor)).toMatchObject({ recoveryCodesLeft: 9 });
    const stranger = await enrolled(here);
    expect(await recover(here, stranger.actor, second)).toBe("otp_invalid");
    expect(await recover(here, actor, second)).toBe("ok");
  });

  test("new ones replace the old ones, and removing the app ends both", async () => {
    const here = setUp();
    const { actor, signed, recoveryCodes, codeAt } = await enrolled(here);
    expect(await codeOf(here.factors.renewRecoveryCodes(actor, undefined))).toBe(
      "approval_required",
    );
    const [fresh = ""] = await signed((given) => here.factors.renewRecoveryCodes(actor, given));
    expect(await recover(here, actor, recoveryCodes[0])).toBe("otp_invalid");
    expect(await codeOf(here.factors.removeTotp(actor, undefined))).toBe("approval_required");
    const error: unknown = await here.factors
      .removeTotp(actor, undefined)
      .catch((refused: unknown) => refused);
    const approvalId = isDomainError(error) ? String(error.extra.approvalId) : "";
    await here.factors.removeTotp(actor, { approvalId, recoveryCode: fresh });
    expect(await here.factors.get(actor)).toEqual({ totpSince: null, recoveryCodesLeft: 0 });
    expect(await approve(here, actor, { totp: codeAt() })).toBe("invalid_state");
    expect(await recover(here, actor, recoveryCodes[1])).toBe("otp_invalid");
  });
});
