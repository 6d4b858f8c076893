import { beforeAll, expect, test, vi } from "vitest";
import { ROLES, type UserActor } from "@/lib/core/actor";
import { isDomainError } from "@/lib/core/errors";
import { SCOPES } from "@/lib/contracts/contract";
import type { Database } from "@/lib/platform/db/client";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import type { GivenApproval } from "@/lib/trust/proofs/approvals";
import { newApiKeySecret } from "./rules";
import { toApiKeys, toCreatedApiKey } from "./serializer";

let database: Database;
beforeAll(async () => {
  ({ database } = await testDatabase());
});

const setUp = async (time = movableClock()) => {
  const services = createAuthServices({ database, time });
  const account = services.newAccount();
  const actor = await services.actorOf(await services.signIn(account));
  /** Runs a call as a person who signs the required approval. */
  const approved = async <T>(send: (approval?: GivenApproval) => Promise<T>): Promise<T> => {
    const error: unknown = await send().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!isDomainError(error) || error.code !== "approval_required")
      throw new Error("No approval was asked for.");
    const signature = await account.signMessage({ message: error.message });
    return send({ approvalId: String(error.extra.approvalId), signature });
  };
  return { ...services, ...time, time, account, actor, approved };
};

const WHOLE = { limit: 1000 };

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

test("an API key is shown once, stored as a hash, and acts for its project and creator", async () => {
  const { apiKeys, actor } = await setUp();
  const made = await apiKeys.create(actor, { name: "CI" });
  const record = toCreatedApiKey(made);
  expect(record.secret).toMatch(/^cw_test_[0-9A-Za-z]{49}$/);
  expect(record).toMatchObject({
    name: "CI",
    last4: record.secret.slice(-4),
    scopes: SCOPES,
    expiresAt: null,
    lastUsedAt: null,
    revokedAt: null,
    createdBy: actor.userId,
  });
  expect(record.secret.startsWith(record.prefix)).toBe(true);
  const row = await database.prisma.apiKey.findUniqueOrThrow({ where: { id: made.key.id } });
  expect(JSON.stringify(row)).not.toContain(record.secret.slice(20));
  expect(JSON.stringify(toApiKeys(await apiKeys.list(actor, WHOLE)))).not.toContain("secret");
  expect(await apiKeys.verify(record.secret)).toEqual({
    type: "apiKey",
    keyId: made.key.id,
    projectId: actor.projectId,
    createdBy: actor.userId,
    rotatedBy: [],
    madeBySession: actor.sessionId,
    scopes: record.scopes,
    expiresAt: null,
    policy: { otp: "required", dailyCapUsd: null, recipients: [] },
  });
});

test("a verified API key carries its policy", async () => {
  const { apiKeys, actor, approved } = await setUp();
  const recipient = testAccount().address;
  const policy = { otp: "exempt", dailyCapUsd: "250.5" } as const;
  const made = await approved((approval) =>
    apiKeys.create(actor, {
      name: "Shop",
      ...policy,
      recipients: [recipient, recipient],
      approval,
    }),
  );
  expect(toCreatedApiKey(made)).toMatchObject({ ...policy, recipients: [recipient] });
  expect((await apiKeys.verify(made.secret)).policy).toEqual({
    ...policy,
    recipients: [recipient],
  });
  for (const wrong of [
    { otp: "exempt" },
    { dailyCapUsd: "1" },
    { otp: "required", dailyCapUsd: "1" },
  ] as const)
    expect(await codeOf(apiKeys.create(actor, { name: "Shop", ...wrong }))).toBe(
      "invalid_request",
    );
});

test("a malformed key, an unknown key and a key with a wrong secret get the same error: unauthorized", async () => {
  const { apiKeys, actor, secrets } = await setUp();
  const { secret } = await apiKeys.create(actor, { name: "CI" });
  const other = newApiKeySecret("test");
  await database.prisma.apiKey.updateMany({
    where: { lookup: secret.slice(0, 18) },
    data: { secretHash: Uint8Array.from(secrets.hash("api-key", other.secret)) },
  });
  const refused = [
    "",
    "abc",
    `${secret}0`,
    secret.slice(0, -1),
    other.secret,
    secret,
    secret.replace("test", "live"),
  ];
  for (const text of refused) expect(await codeOf(apiKeys.verify(text))).toBe("unauthorized");
});

test("an API key is limited to its scopes and its expiry", async () => {
  const { apiKeys, actor, advance } = await setUp();
  const input = { name: "Reader", scopes: ["balances:read", "balances:read"] as const };
  const { secret } = await apiKeys.create(actor, {
    ...input,
    expiresAt: "2026-01-01T01:00:00Z",
  });
  expect((await apiKeys.verify(secret)).scopes).toEqual(["balances:read"]);
  advance(3600);
  expect(await codeOf(apiKeys.verify(secret))).toBe("api_key_expired");
  expect(
    await codeOf(apiKeys.create(actor, { name: "Late", expiresAt: "2026-01-01T00:59:59Z" })),
  ).toBe("invalid_request");
});

test("a revoked key stops on every instance within a second, and at once on the same", async () => {
  const { apiKeys, actor, time } = await setUp();
  const there = createAuthServices({ database, time });
  const { key, secret } = await apiKeys.create(actor, { name: "CI" });
  expect(await codeOf(there.apiKeys.verify(secret))).toBe("ok");
  const { revokedAt } = await apiKeys.revoke(actor, key.id);
  expect(await codeOf(apiKeys.verify(secret))).toBe("api_key_revoked");
  time.advance(1);
  expect(await codeOf(there.apiKeys.verify(secret))).toBe("api_key_revoked");
  time.advance(10);
  expect(await apiKeys.revoke(actor, key.id)).toEqual({ id: key.id, revokedAt });
  expect((await apiKeys.list(actor, WHOLE)).data[0]).toMatchObject({ id: key.id, revokedAt });
});

test("a key in steady use is read from the database once a second, not once a request", async () => {
  const { apiKeys, actor, advance } = await setUp();
  const { secret } = await apiKeys.create(actor, { name: "CI" });
  const reads = vi.spyOn(database.prisma.apiKey, "findFirst");
  await Promise.all(Array.from({ length: 200 }, () => apiKeys.verify(secret)));
  expect(reads).toHaveBeenCalledTimes(1);
  advance(0.6);
  await Promise.all(Array.from({ length: 200 }, () => apiKeys.verify(secret)));
  expect(reads).toHaveBeenCalledTimes(2);
  reads.mockRestore();
});

test("a change of a key takes effect on every instance within a second, and at once on the same", async () => {
  const { apiKeys, actor, approved, time } = await setUp();
  const there = createAuthServices({ database, time });
  const { key, secret } = await apiKeys.create(actor, { name: "CI" });
  expect((await there.apiKeys.verify(secret)).policy.otp).toBe("required");
  const policy = { otp: "exempt", dailyCapUsd: "5" } as const;
  await approved((approval) => apiKeys.update(actor, key.id, { ...policy, approval }));
  expect((await apiKeys.verify(secret)).policy).toMatchObject(policy);
  time.advance(1);
  expect((await there.apiKeys.verify(secret)).policy).toMatchObject(policy);
  await apiKeys.update(actor, key.id, { otp: "required", scopes: ["balances:read"] });
  const narrowed = {
    scopes: ["balances:read"],
    policy: { otp: "required", dailyCapUsd: null },
  };
  expect(await apiKeys.verify(secret)).toMatchObject(narrowed);
  time.advance(1);
  expect(await there.apiKeys.verify(secret)).toMatchObject(narrowed);
});

test("of two concurrent approved changes of one key the second is refused", async () => {
  const { apiKeys, actor, account, approved } = await setUp();
  const { key } = await apiKeys.create(actor, { name: "CI" });
  await approved((approval) =>
    apiKeys.update(actor, key.id, { otp: "exempt", dailyCapUsd: "5", approval }),
  );
  const ask = async (dailyCapUsd: string): Promise<GivenApproval> => {
    const error: unknown = await apiKeys
      .update(actor, key.id, { dailyCapUsd })
      .catch((thrown: unknown) => thrown);
    if (!isDomainError(error)) throw new Error("No approval was asked for.");
    const signature = await account.signMessage({ message: error.message });
    return { approvalId: String(error.extra.approvalId), signature };
  };
  const [six, seven] = [await ask("6"), await ask("7")];
  await apiKeys.update(actor, key.id, { dailyCapUsd: "7", approval: seven });
  // From 7 to 6 is narrower and needs no approval. The approval is for a change from 5 to 6.
  expect(await codeOf(apiKeys.update(actor, key.id, { dailyCapUsd: "8", approval: six }))).toBe(
    "approval_required",
  );
  const before = await database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } });
  const outcomes = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      codeOf(apiKeys.update(actor, key.id, { name: `N${String(n)}` })),
    ),
  );
  const after = await database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } });
  expect(after.version - before.version).toBe(
    outcomes.filter((outcome) => outcome === "ok").length,
  );
  expect(outcomes).toContain("ok");
  expect(outcomes.every((outcome) => outcome === "ok" || outcome === "invalid_state")).toBe(
    true,
  );
});

test("an API key shows its last use, to the minute", async () => {
  const { apiKeys, actor, advance } = await setUp();
  const { key, secret } = await apiKeys.create(actor, { name: "CI" });
  const lastUsed = async () =>
    (
      await database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } })
    ).lastUsedAt?.toISOString();
  await apiKeys.verify(secret);
  await vi.waitFor(
    async () => expect(await lastUsed()).toBe("2026-01-01T00:00:00.000Z"),
    20_000,
  );
  const writes = vi.spyOn(database.prisma.apiKey, "updateMany");
  advance(59);
  await apiKeys.verify(secret);
  expect(writes).not.toHaveBeenCalled();
  advance(1);
  await apiKeys.verify(secret);
  writes.mockRestore();
  await vi.waitFor(
    async () => expect(await lastUsed()).toBe("2026-01-01T00:01:00.000Z"),
    20_000,
  );
});

test("API keys are made and revoked by owners and admins alone", async () => {
  const { apiKeys, actor } = await setUp();
  const outcomes = await Promise.all(
    ROLES.map(async (role) => {
      const as: UserActor = { ...actor, role };
      const { key } = await apiKeys.create(actor, { name: "CI" });
      return [
        role,
        await codeOf(apiKeys.create(as, { name: role })),
        await codeOf(apiKeys.revoke(as, key.id)),
      ];
    }),
  );
  expect(outcomes).toEqual([
    ["owner", "ok", "ok"],
    ["admin", "ok", "ok"],
    ["operator", "forbidden", "forbidden"],
    ["viewer", "forbidden", "forbidden"],
  ]);
});

test("the keys of another project, and invalid ids, are not found", async () => {
  const { apiKeys, actor, actorOf, signIn } = await setUp();
  const eve = await actorOf(await signIn());
  const { key, secret } = await apiKeys.create(actor, { name: "CI" });
  expect((await apiKeys.list(eve, WHOLE)).data).toEqual([]);
  for (const id of [key.id, "key_01980000-0000-7000-8000-000000000000", "key_1", "", "%"]) {
    expect(await codeOf(apiKeys.revoke(eve, id))).toBe("not_found");
  }
  expect(await codeOf(apiKeys.verify(secret))).toBe("ok");
});

test("the audit log records the creation and revocation of a key, without its secret", async () => {
  const { apiKeys, actor } = await setUp();
  const { key, secret } = await apiKeys.create(actor, { name: "CI" });
  await apiKeys.revoke(actor, key.id);
  await apiKeys.revoke(actor, key.id);
  const events = await database.prisma.auditEvent.findMany({
    where: { subject: key.id },
    orderBy: { id: "asc" },
  });
  expect(events.map(({ action }) => action)).toEqual(["api_key.created", "api_key.revoked"]);
  expect(JSON.stringify(events)).not.toContain(secret.slice(10));
});
