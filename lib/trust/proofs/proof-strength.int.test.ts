/** Every approvable change and every proof, and factors that were added with a recovery code. */
import { beforeAll, describe, expect, test } from "vitest";
import {
  APPROVABLE_CHANGES,
  PROOFS,
  proofsOf,
  type ChangeKind,
  type Proof,
} from "@/lib/contracts/approvable-changes";
import type { UserActor } from "@/lib/core/actor";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import type { Change, GivenApproval } from "./approvals";
import {
  createAuthServices,
  movableClock,
  withSignature,
} from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testEmail } from "@/lib/dev/testing/factories";
import { passkeyDevice } from "@/lib/dev/testing/passkey-device";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import { stepAt, totpCode } from "./totp";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const HOURS_24 = 24 * 3600;

const setUp = () => {
  const time = movableClock();
  return { ...createAuthServices({ database, time }), ...time };
};
type Instance = ReturnType<typeof setUp>;

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

const changeOf = (kind: ChangeKind): Change => ({
  kind,
  title: "Let more pass",
  lines: ["Limit: 2"],
  values: { to: 2 },
});

const approvalIdOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.catch((refused: unknown) => refused);
  if (!isDomainError(error) || error.code !== "approval_required")
    throw new Error("No approval was asked for.");
  return String(error.extra.approvalId);
};

/** A person with an address, an authenticator app with recovery codes, and a passkey. */
const personWithAll = async (here: Instance) => {
  const account = here.newAccount();
  const actor = await here.actorOf(await here.signIn(account));
  const signed = <T>(change: (approval?: GivenApproval) => Promise<T>): Promise<T> =>
    withSignature(account, change);
  const email = testEmail();
  const mailedCode = () => here.mails.at(-1)?.code ?? "";
  await here.mailCode(actor, email, account);
  await here.auth.verifyEmail(actor, mailedCode());
  const { secret } = await signed((approval) => here.factors.startTotp(actor, approval));
  const appCode = () => totpCode(fromBase32(secret), stepAt(here.clock.now()));
  const recoveryCodes = [...(await here.factors.confirmTotp(actor, appCode()))];
  const device = passkeyDevice();
  const { challenge } = await signed((approval) =>
    here.factors.passkeys.start(actor, { name: "Laptop", approval }),
  );
  await here.factors.passkeys.add(actor, device.create(challenge));
  const signature = (message: string) => account.signMessage({ message });
  return {
    account,
    actor,
    email,
    signed,
    mailedCode,
    appCode,
    recoveryCodes,
    device,
    signature,
  };
};
type Person = Awaited<ReturnType<typeof personWithAll>>;

/** A valid proof of this kind for the change. */
const proofFor = async (
  here: Instance,
  person: Person,
  change: Change,
  proof: Proof,
): Promise<GivenApproval> => {
  const error: unknown = await here.approvals
    .requireApproval(person.actor, change, undefined)
    .catch((e: unknown) => e);
  if (!isDomainError(error)) throw new Error("No approval was asked for.");
  const approvalId = String(error.extra.approvalId);
  switch (proof) {
    case "code":
      await here.approvals.requestCode(person.actor, approvalId);
      return { approvalId, otp: person.mailedCode() };
    case "totp":
      // Each code of the app is valid once.
      here.advance(30);
      return { approvalId, totp: person.appCode() };
    case "passkey": {
      const { passkey } = await here.approvals.requestCode(person.actor, approvalId, "passkey");
      return { approvalId, passkey: person.device.get(passkey?.challenge ?? "") };
    }
    case "signature":
      return { approvalId, signature: await person.signature(error.message) };
    case "recovery_code":
      return { approvalId, recoveryCode: person.recoveryCodes[0] };
  }
};

const KINDS = Object.keys(APPROVABLE_CHANGES) as ChangeKind[];

describe.each(PROOFS)("a right proof by %s", (proof) => {
  test("approves the changes whose row in the table names it, and no other", async () => {
    const here = setUp();
    const person = await personWithAll(here);
    const outcomes: Record<string, string> = {};
    for (const kind of KINDS) {
      // Codes are limited per hour.
      here.advance(120);
      const given = await proofFor(here, person, changeOf(kind), proof);
      outcomes[kind] = await codeOf(
        here.approvals.requireApproval(person.actor, changeOf(kind), given),
      );
      if (proof === "recovery_code" && outcomes[kind] === "ok") person.recoveryCodes.shift();
    }
    const expected = KINDS.map(
      (kind) => [kind, proofsOf(kind).includes(proof) ? "ok" : "forbidden"] as const,
    );
    expect(outcomes).toEqual(Object.fromEntries(expected));
    // A proof that was refused because of its form was not used up.
    expect(await here.factors.get(person.actor)).toMatchObject({
      recoveryCodesLeft: person.recoveryCodes.length,
    });
  });
});

test("only changes of factors take a recovery code", () => {
  const takes = KINDS.filter((kind) => proofsOf(kind).includes("recovery_code"));
  expect(takes).toEqual([
    "email.add",
    "email.replace",
    "passkey.add",
    "passkey.remove",
    "totp.remove",
  ]);
});

/** Adds a passkey by a recovery code. `approve` uses a further code. */
const recovered = async (here: Instance, { actor, recoveryCodes }: Person) => {
  const approve = async <T>(change: (approval?: GivenApproval) => Promise<T>): Promise<T> =>
    change({ approvalId: await approvalIdOf(change()), recoveryCode: recoveryCodes.shift() });
  const device = passkeyDevice();
  const { challenge } = await approve((approval) =>
    here.factors.passkeys.start(actor, { name: "New", approval }),
  );
  await here.factors.passkeys.add(actor, device.create(challenge));
  return { approve, device };
};

test("a passkey that was added with a recovery code approves nothing for 24 hours, and its person is mailed where codes went before", async () => {
  const here = setUp();
  const person = await personWithAll(here);
  const { device } = await recovered(here, person);
  expect((await here.waitingMail(person.email)).map(({ subject }) => subject)).toContain(
    "A recovery code of your Causeway account was used",
  );
  // The person's other passkey is offered, and the new one is not.
  const approvalId = await approvalIdOf(
    here.approvals.requireApproval(person.actor, changeOf("api_key.create"), undefined),
  );
  const challenge = async () => {
    const { passkey } = await here.approvals.requestCode(person.actor, approvalId, "passkey");
    return {
      challenge: passkey?.challenge ?? "",
      ids: passkey?.allowCredentials.map(({ id }) => id),
    };
  };
  const asked = await challenge();
  expect(asked.ids).toEqual([person.device.id]);
  const approveBy = async (by: typeof device, signed: string) =>
    codeOf(
      here.approvals.requireApproval(person.actor, changeOf("api_key.create"), {
        approvalId,
        passkey: by.get(signed),
      }),
    );
  expect(await approveBy(device, asked.challenge)).toBe("forbidden");
  const otherAccount = await here.auth.startPasskeySignIn();
  const signIn = here.auth.signInByPasskey({
    credential: device.get(otherAccount.challenge),
    kind: "api",
  });
  expect((await signIn).userId).toBe(person.actor.userId);
  here.advance(HOURS_24);
  const later = await approvalIdOf(
    here.approvals.requireApproval(person.actor, changeOf("api_key.create"), undefined),
  );
  const { passkey } = await here.approvals.requestCode(person.actor, later, "passkey");
  const given = { approvalId: later, passkey: device.get(passkey?.challenge ?? "") };
  expect(
    await codeOf(
      here.approvals.requireApproval(person.actor, changeOf("api_key.create"), given),
    ),
  ).toBe("ok");
});

test("an address that was set with a recovery code gets no code for 24 hours, for payments and keys alike; verifying it again does not shorten that", async () => {
  const here = setUp();
  const person = await personWithAll(here);
  const { actor } = person;
  const { approve } = await recovered(here, person);
  const email = testEmail();
  here.advance(60);
  await approve((approval) => here.auth.setEmail(actor, email, approval));
  await here.auth.verifyEmail(actor, person.mailedCode());
  here.advance(60);
  await here.auth.setEmail(actor, email);
  await here.auth.verifyEmail(actor, person.mailedCode());
  const codeFor = (by: Parameters<typeof here.otp.request>[0]["actor"]) =>
    codeOf(
      here.otp.request({
        actor: by,
        subjectId: "qt_1",
        digest: new Uint8Array(32),
        subject: "Pay",
        lines: [],
      }),
    );
  const key = {
    type: "apiKey" as const,
    keyId: "key_1",
    projectId: actor.projectId,
    createdBy: actor.userId,
    scopes: [],
    policy: { otp: "required" as const, dailyCapUsd: null, recipients: [] },
  };
  const approvalId = await approvalIdOf(
    here.approvals.requireApproval(actor, changeOf("totp.remove"), undefined),
  );
  expect(await codeOf(here.approvals.requestCode(actor, approvalId))).toBe("forbidden");
  expect(await codeFor(actor)).toBe("forbidden");
  expect(await codeFor(key)).toBe("forbidden");
  here.advance(HOURS_24);
  expect(await codeFor(actor)).toBe("ok");
});

test("the wallet's signature undoes what a recovery code changed, at once", async () => {
  const here = setUp();
  const person = await personWithAll(here);
  const { approve } = await recovered(here, person);
  const thief = testEmail();
  here.advance(60);
  await approve((approval) => here.auth.setEmail(person.actor, thief, approval));
  await here.auth.verifyEmail(person.actor, person.mailedCode());
  here.advance(60);
  await here.mailCode(person.actor, person.email, person.account);
  await here.auth.verifyEmail(person.actor, person.mailedCode());
  const approvalId = await approvalIdOf(
    here.approvals.requireApproval(person.actor, changeOf("api_key.create"), undefined),
  );
  expect(await codeOf(here.approvals.requestCode(person.actor, approvalId))).toBe("ok");
});

/** Ways to add a factor, by name. Each function sends the request without a proof. */
const ENROLMENTS: Readonly<
  Record<string, (here: Instance, actor: UserActor) => Promise<unknown>>
> = {
  email: (here, actor) => here.auth.setEmail(actor, testEmail()),
  totp: (here, actor) => here.factors.startTotp(actor, undefined),
  passkey: (here, actor) => here.factors.passkeys.start(actor, { name: "Laptop" }),
  "recovery codes": (here, actor) => here.factors.renewRecoveryCodes(actor, undefined),
};

/** People by the factors that they have. */
const OWNERS = ["none", "email", "totp", "passkey", "all"] as const;

const personWith = async (here: Instance, has: (typeof OWNERS)[number]): Promise<UserActor> => {
  if (has === "none") return here.actorOf(await here.signIn(here.newAccount()));
  const { actor, signed } = await personWithAll(here);
  const remove = (factor: "email" | "totp" | "passkey") => has !== "all" && has !== factor;
  if (remove("email"))
    await database.prisma.user.update({
      where: { id: actor.userId },
      data: { email: null, emailVerifiedAt: null },
    });
  if (remove("totp")) await signed((approval) => here.factors.removeTotp(actor, approval));
  if (remove("passkey"))
    for (const { id } of await here.factors.passkeys.list(actor))
      await signed((approval) => here.factors.passkeys.remove(actor, id, approval));
  return actor;
};

const factorsOf = async (here: Instance, { userId }: UserActor) => ({
  email: (await database.prisma.user.findUniqueOrThrow({ where: { id: userId } })).email,
  totp: await database.prisma.totpFactor.findMany({ where: { userId } }),
  recoveryCodes: await database.prisma.recoveryCode.findMany({
    where: { userId },
    orderBy: { codeHash: "asc" },
  }),
  passkeys: await database.prisma.passkey.findMany({ where: { userId } }),
  challenges: await database.prisma.passkeyChallenge.count({
    where: { userId, purpose: "register" },
  }),
  mails: here.mails.length,
});

describe.each(OWNERS)("a session of a person who has this factor: %s", (has) => {
  test.each(Object.keys(ENROLMENTS))(
    "adds no %s without a proof, and mails no code for it",
    async (factor) => {
      const here = setUp();
      const actor = await personWith(here, has);
      here.advance(120);
      const before = await factorsOf(here, actor);
      const outcome = await codeOf(ENROLMENTS[factor]?.(here, actor) ?? Promise.resolve());
      // There are no recovery codes without an app, and no second app beside one.
      const hasApp = has === "totp" || has === "all";
      const refusals: Readonly<Record<string, string>> = hasApp
        ? { totp: "invalid_state" }
        : { "recovery codes": "not_found" };
      expect(outcome).toBe(refusals[factor] ?? "approval_required");
      expect(await factorsOf(here, actor)).toEqual(before);
    },
  );
});
