import { beforeAll, describe, expect, test } from "vitest";
import type { PasskeyAssertion } from "@/lib/contracts/passkey-records";
import type { UserActor } from "@/lib/core/actor";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import type { GivenApproval } from "./approvals";
import {
  createAuthServices,
  movableClock,
  withSignature,
} from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { passkeyDevice, type PasskeyDevice } from "@/lib/dev/testing/passkey-device";

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

/** A signed-in person who can sign approvals with the wallet. */
const person = async (here: Instance) => {
  const account = here.newAccount();
  const actor = await here.actorOf(await here.signIn(account));
  const signed = <T>(change: (approval?: GivenApproval) => Promise<T>): Promise<T> =>
    withSignature(account, change);
  return { actor, signed };
};

const optionsFor = async (
  here: Instance,
  { actor, signed }: Awaited<ReturnType<typeof person>>,
  name = "Laptop",
) => {
  const options = await signed((approval) =>
    here.factors.passkeys.start(actor, { name, approval }),
  );
  return options.challenge;
};

/** A person with a passkey on a device. */
const withPasskey = async (here: Instance, device: PasskeyDevice = passkeyDevice()) => {
  const someone = await person(here);
  const passkey = await here.factors.passkeys.add(
    someone.actor,
    device.create(await optionsFor(here, someone)),
  );
  return { ...someone, device, passkey };
};

/** A change that awaits approval, and a challenge for it. */
const asked = async (here: Instance, actor: UserActor, change = CHANGE) => {
  const error: unknown = await here.approvals
    .requireApproval(actor, change, undefined)
    .catch((e: unknown) => e);
  if (!isDomainError(error)) throw new Error("No approval was asked for.");
  const approvalId = String(error.extra.approvalId);
  const { passkey } = await here.approvals.requestCode(actor, approvalId, "passkey");
  if (passkey === undefined) throw new Error("No challenge was given.");
  const approve = (assertion: PasskeyAssertion, by = here) =>
    codeOf(by.approvals.requireApproval(actor, change, { approvalId, passkey: assertion }));
  return { approvalId, request: passkey, approve };
};

describe("adding a passkey", () => {
  test("it needs an approval of its name, and its challenge is good once", async () => {
    const here = setUp();
    const someone = await person(here);
    const { actor } = someone;
    expect(await codeOf(here.factors.passkeys.start(actor, { name: "Laptop" }))).toBe(
      "approval_required",
    );
    const device = passkeyDevice();
    const made = device.create(await optionsFor(here, someone));
    const stranger = await person(here);
    expect(await codeOf(here.factors.passkeys.add(stranger.actor, made))).toBe("invalid_state");
    expect(await here.factors.passkeys.add(actor, made)).toMatchObject({
      name: "Laptop",
      credentialId: device.id,
    });
    expect(await codeOf(here.factors.passkeys.add(actor, made))).toBe("invalid_state");
    expect(await here.factors.passkeys.list(actor)).toMatchObject([
      { name: "Laptop", counter: 0n, lastUsedAt: null },
    ]);
  });

  test.each([
    ["for another domain", passkeyDevice({ rpId: "evil.example" })],
    ["on another site", passkeyDevice({ origin: "https://evil.example" })],
    ["without verifying the person", passkeyDevice({ verifies: false })],
  ])("one that was made %s is refused, and the challenge is used up", async (_what, device) => {
    const here = setUp();
    const someone = await person(here);
    const challenge = await optionsFor(here, someone);
    expect(
      await codeOf(here.factors.passkeys.add(someone.actor, device.create(challenge))),
    ).toBe("invalid_signature");
    expect(
      await codeOf(here.factors.passkeys.add(someone.actor, passkeyDevice().create(challenge))),
    ).toBe("invalid_state");
  });

  test("options expire after five minutes", async () => {
    const here = setUp();
    const someone = await person(here);
    const challenge = await optionsFor(here, someone);
    here.advance(300);
    const made = passkeyDevice().create(challenge);
    expect(await codeOf(here.factors.passkeys.add(someone.actor, made))).toBe("invalid_state");
  });

  test("its person renames it, and removes it with an approval; others see nothing of it", async () => {
    const here = setUp();
    const { actor, signed, device, passkey } = await withPasskey(here);
    const stranger = await person(here);
    expect(await codeOf(here.factors.passkeys.rename(stranger.actor, passkey.id, "Mine"))).toBe(
      "not_found",
    );
    expect(
      await codeOf(here.factors.passkeys.remove(stranger.actor, passkey.id, undefined)),
    ).toBe("not_found");
    expect(await here.factors.passkeys.rename(actor, passkey.id, "Key ring")).toMatchObject({
      name: "Key ring",
    });
    expect(await codeOf(here.factors.passkeys.remove(actor, passkey.id, undefined))).toBe(
      "approval_required",
    );
    await signed((approval) => here.factors.passkeys.remove(actor, passkey.id, approval));
    expect(await here.factors.passkeys.list(actor)).toEqual([]);
    const { challenge } = await here.auth.startPasskeySignIn();
    const signIn = here.auth.signInByPasskey({
      credential: device.get(challenge),
      kind: "api",
    });
    expect(await codeOf(signIn)).toBe("invalid_signature");
  });
});

describe("approving by a passkey", () => {
  test("the challenge begins with the digest of what is approved, and is good once", async () => {
    const here = setUp();
    const { actor, device, passkey } = await withPasskey(here);
    const { approvalId, request, approve } = await asked(here, actor);
    const { digest } = await database.prisma.approval.findFirstOrThrow({
      where: { id: approvalId },
    });
    expect(Buffer.from(request.challenge, "base64url").subarray(0, 32)).toEqual(
      Buffer.from(digest),
    );
    expect(request.allowCredentials).toEqual([
      { id: device.id, type: "public-key", transports: [] },
    ]);
    const assertion = device.get(request.challenge);
    expect(await approve(assertion)).toBe("ok");
    expect(await approve(assertion)).toBe("invalid_signature");
    expect(await approve(device.get(request.challenge))).toBe("invalid_signature");
    const used = await database.prisma.auditEvent.findMany({
      where: { subject: approvalId, action: "factor.used" },
    });
    expect(used).toMatchObject([{ actor: actor.userId, data: { means: "passkey" } }]);
    expect(await here.factors.passkeys.list(actor)).toMatchObject([
      { id: passkey.id, lastUsedAt: here.clock.now() },
    ]);
  });

  test("a signature over the digest of another change is refused", async () => {
    const here = setUp();
    const { actor, device } = await withPasskey(here);
    const [one, other] = [
      await asked(here, actor),
      await asked(here, actor, { ...CHANGE, values: { to: 3 } }),
    ];
    expect(await one.approve(device.get(other.request.challenge))).toBe("invalid_signature");
    const { challenge } = await here.auth.startPasskeySignIn();
    expect(await one.approve(device.get(challenge))).toBe("invalid_signature");
    const forged = Buffer.from(one.request.challenge, "base64url");
    forged[63] = (forged[63] ?? 0) ^ 1;
    expect(await one.approve(device.get(forged.toString("base64url")))).toBe(
      "invalid_signature",
    );
    expect(await one.approve(device.get(one.request.challenge))).toBe("ok");
  });

  test("of two uses at once on two instances one wins", async () => {
    const time = movableClock();
    const [here, there] = [setUp(time), setUp(time)];
    const { actor, device } = await withPasskey(here);
    const { request, approve } = await asked(here, actor);
    const assertion = device.get(request.challenge);
    expect((await Promise.all([approve(assertion), approve(assertion, there)])).sort()).toEqual(
      ["invalid_signature", "ok"],
    );
  });

  test("somebody else's passkey, one that does not verify the person, and an expired challenge are refused", async () => {
    const here = setUp();
    const { actor, device } = await withPasskey(here);
    const other = await withPasskey(here);
    const first = await asked(here, actor);
    expect(await first.approve(other.device.get(first.request.challenge))).toBe(
      "invalid_signature",
    );
    const second = await asked(here, actor);
    const forged = {
      ...passkeyDevice().get(second.request.challenge),
      id: device.id,
      rawId: device.id,
    };
    expect(await second.approve(forged)).toBe("invalid_signature");
    const third = await asked(here, actor);
    here.advance(300);
    expect(await third.approve(device.get(third.request.challenge))).toBe("invalid_signature");
  });

  test("a counter that goes back is refused and recorded, because the passkey may have been copied", async () => {
    const here = setUp();
    const { actor, device, passkey } = await withPasskey(here);
    const first = await asked(here, actor);
    expect(await first.approve(device.get(first.request.challenge))).toBe("ok");
    device.rewind(0);
    const second = await asked(here, actor);
    expect(await second.approve(device.get(second.request.challenge))).toBe(
      "invalid_signature",
    );
    const alarms = { subject: passkey.id, action: "passkey.clone_suspected" };
    expect(await database.prisma.auditEvent.count({ where: alarms })).toBe(1);
  });

  test("a passkey that does not count approves again and again", async () => {
    const here = setUp();
    const { actor, device } = await withPasskey(here, passkeyDevice({ counts: false }));
    for (let use = 0; use < 2; use += 1) {
      const { request, approve } = await asked(here, actor);
      expect(await approve(device.get(request.challenge))).toBe("ok");
    }
  });

  test("without a passkey there is no challenge", async () => {
    const here = setUp();
    const { actor } = await person(here);
    await expect(asked(here, actor)).rejects.toThrow("You have no passkey");
  });
});

describe("signing in by a passkey", () => {
  test("the passkey says who it is; its challenge is good once, and not one of an approval", async () => {
    const here = setUp();
    const { actor, device, passkey } = await withPasskey(here);
    const { request } = await asked(here, actor);
    const byApproval = here.auth.signInByPasskey({
      credential: device.get(request.challenge),
      kind: "api",
    });
    expect(await codeOf(byApproval)).toBe("invalid_signature");
    const { challenge, allowCredentials } = await here.auth.startPasskeySignIn();
    expect(allowCredentials).toEqual([]);
    const credential = device.get(challenge);
    const signedIn = await here.auth.signInByPasskey({ credential, kind: "api" });
    expect(await here.auth.verifyAccessToken(signedIn.accessToken)).toMatchObject({
      userId: actor.userId,
    });
    expect(await codeOf(here.auth.signInByPasskey({ credential, kind: "api" }))).toBe(
      "invalid_signature",
    );
    const audit = await database.prisma.auditEvent.findFirst({
      where: { subject: signedIn.sessionId },
    });
    expect(audit).toMatchObject({
      action: "session.created",
      data: { proof: "passkey", passkeyId: passkey.id },
    });
  });

  test("a passkey that nobody added is refused", async () => {
    const here = setUp();
    const { challenge } = await here.auth.startPasskeySignIn();
    const signIn = here.auth.signInByPasskey({
      credential: passkeyDevice().get(challenge),
      kind: "api",
    });
    expect(await codeOf(signIn)).toBe("invalid_signature");
  });
});
