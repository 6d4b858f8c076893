import { beforeAll, describe, expect, test } from "vitest";
import type { Actor, ApiKeyActor, ApiKeyPolicy } from "@/lib/core/actor";
import { newId } from "@/lib/core/ids";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf } from "@/lib/platform/db/sql";
import { testDatabase } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { createPoliciesService, type PoliciesService } from "./service";

let database: Database;
let policies: PoliciesService;
beforeAll(async () => {
  ({ database } = await testDatabase());
  policies = createPoliciesService({ database });
  await project(PROJECT, "1000000000");
});

const PROJECT = "prj_1";
/**
 * A project with a daily cap. Most tests are about the caps of keys, so their project's cap is
 * high.
 */
const project = (id: string, dailyCapUsd: string) =>
  database.prisma.project.create({
    data: { id, name: id, dailyCapUsd, createdAt: new Date() },
  });

const now = new Date("2026-01-01T23:59:59.999Z");
const nextDay = new Date("2026-01-02T00:00:00Z");
const person: Actor = {
  type: "user",
  userId: "usr_1",
  sessionId: "ses_1",
  projectId: "prj_1",
  role: "owner",
};

const key = (policy: Partial<ApiKeyPolicy> = {}, projectId = PROJECT): ApiKeyActor => ({
  type: "apiKey",
  keyId: newId("apiKey"),
  projectId,
  createdBy: "usr_1",
  scopes: [],
  policy: { otp: "required", dailyCapUsd: null, recipients: [], ...policy },
});
const exempt = (dailyCapUsd: string, projectId = PROJECT): ApiKeyActor =>
  key({ otp: "exempt", dailyCapUsd }, projectId);

const spend = (actor: Actor, usd: string | null, at = now): Promise<boolean> =>
  database.transaction((tx) => policies.spend(sqlOf(tx), actor, usd, at));

const spentOf = async ({ keyId }: ApiKeyActor): Promise<(string | undefined)[]> => {
  const rows = await database.prisma.policySpend.findMany({
    where: { apiKeyId: keyId },
    orderBy: { day: "asc" },
  });
  return rows.map(({ spentUsd }) => spentUsd.toFixed());
};

describe("the daily cap of a key", () => {
  test("is never exceeded by concurrent spending", async () => {
    const actor = exempt("100");
    const outcomes = await Promise.all(Array.from({ length: 200 }, () => spend(actor, "1.5")));
    expect(outcomes.filter(Boolean)).toHaveLength(66);
    expect(await spentOf(actor)).toEqual(["99"]);
    expect(await policies.mayAfford(actor, "1", now)).toBe(true);
    expect(await policies.mayAfford(actor, "1.000001", now)).toBe(false);
    expect(await spentOf(actor)).toEqual(["99"]);
  }, 180_000);

  test("can be used to the last cent, and counts each UTC day and each key separately", async () => {
    const [actor, other] = [exempt("0.3"), exempt("0.3")];
    for (const usd of ["0.1", "0.2"]) expect(await spend(actor, usd)).toBe(true);
    expect(await spend(actor, "0.000001")).toBe(false);
    expect(await spend(other, "0.3")).toBe(true);
    expect(await policies.mayAfford(actor, "0.3", nextDay)).toBe(true);
    expect(await spend(actor, "0.3", nextDay)).toBe(true);
    expect(await spentOf(actor)).toEqual(["0.3", "0.3"]);
  });

  test("is not lowered by amounts too small to be stored: they are rounded up", async () => {
    const actor = exempt("0.000002");
    expect([await spend(actor, "0.0000000001"), await spend(actor, "0.0000000001")]).toEqual([
      true,
      true,
    ]);
    expect(await spend(actor, "0.0000000001")).toBe(false);
  });

  test("refuses every amount without a known price, and counts none of these", async () => {
    const actor = exempt("1000000");
    for (const usd of [
      null,
      "0",
      "0.00",
      "",
      "-1",
      "NaN",
      "1e3",
      "Infinity",
      `1${"0".repeat(30)}`,
    ]) {
      expect([usd, await policies.mayAfford(actor, usd, now)]).toEqual([usd, false]);
      expect([usd, await spend(actor, usd)]).toEqual([usd, false]);
    }
    expect(await spend(exempt("0"), "0.01")).toBe(false);
    expect(await spentOf(actor)).toEqual([]);
  });

  test("counts only accepted amounts: a transaction that fails counts nothing", async () => {
    const actor = exempt("10");
    const failed = database.transaction(async (tx) => {
      expect(await policies.spend(sqlOf(tx), actor, "10", now)).toBe(true);
      throw new Error("no balance");
    });
    await expect(failed).rejects.toThrow("no balance");
    expect(await spend(actor, "10")).toBe(true);
  });

  test("applies to exempt keys; people and other keys always need a code", async () => {
    for (const actor of [person, key(), key({ otp: "required", dailyCapUsd: "100" })]) {
      expect(policies.needsCode(actor)).toBe(true);
      expect(await policies.mayAfford(actor, "1", now)).toBe(false);
      expect(await spend(actor, "1")).toBe(false);
    }
    expect(policies.needsCode(exempt("1"))).toBe(false);
  });
});

const spentOfProject = async (projectId: string): Promise<string[]> => {
  const rows = await database.prisma.projectSpend.findMany({
    where: { projectId },
    orderBy: { day: "asc" },
  });
  return rows.map(({ spentUsd }) => spentUsd.toFixed());
};

test("the daily cap of a project limits all its keys together, also under concurrent spending", async () => {
  await project("prj_two_keys", "100");
  const [one, other] = [exempt("80", "prj_two_keys"), exempt("80", "prj_two_keys")];
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, at) => spend(at % 2 === 0 ? one : other, "1.5")),
  );
  expect(outcomes.filter(Boolean)).toHaveLength(66);
  expect(await spentOfProject("prj_two_keys")).toEqual(["99"]);
  const [ofOne, ofOther] = [await spentOf(one), await spentOf(other)];
  expect(Number(ofOne[0]) + Number(ofOther[0])).toBe(99);
  expect(await policies.mayAfford(one, "1", now)).toBe(true);
  expect(await policies.mayAfford(one, "1.000001", now)).toBe(false);
  expect(await spend(other, "1", nextDay)).toBe(true);
  expect(await spentOfProject("prj_two_keys")).toEqual(["99", "1"]);
}, 180_000);

test("the daily cap of a project also limits a key with a higher cap", async () => {
  await project("prj_small", "10");
  const actor = exempt("999999999999999999", "prj_small");
  expect([
    await policies.mayAfford(actor, "10", now),
    await policies.mayAfford(actor, "10.01", now),
  ]).toEqual([true, false]);
  expect(await spend(actor, "10.01")).toBe(false);
  expect([await spentOf(actor), await spentOfProject("prj_small")]).toEqual([[], []]);
  expect(await spend(actor, "10")).toBe(true);
  expect(await spend(actor, "0.01")).toBe(false);
});

test("the daily cap of a project does not count amounts that the key's own cap refused", async () => {
  await project("prj_refused", "100");
  const [small, other] = [exempt("5", "prj_refused"), exempt("100", "prj_refused")];
  await Promise.all(Array.from({ length: 50 }, () => spend(small, "6")));
  expect(await spentOf(small)).toEqual([]);
  expect(await spend(small, "5")).toBe(true);
  await Promise.all(Array.from({ length: 50 }, () => spend(small, "1")));
  expect(await spend(other, "95")).toBe(true);
  expect(await spentOfProject("prj_refused")).toEqual(["100"]);
});

test("each project has its own daily cap, which applies as soon as it is changed and is 1,000 by default", async () => {
  await database.prisma.project.create({
    data: { id: "prj_default", name: "", createdAt: new Date() },
  });
  expect(await policies.dailyCapUsd("prj_default")).toBe("1000");
  const actor = exempt("5000", "prj_default");
  expect([await spend(actor, "1000.01"), await spend(actor, "1000")]).toEqual([false, true]);
  await database.prisma.project.update({
    where: { id: "prj_default" },
    data: { dailyCapUsd: "1001" },
  });
  expect([await spend(actor, "1"), await spend(actor, "1")]).toEqual([true, false]);
  await expect(policies.dailyCapUsd("prj_nothing")).rejects.toMatchObject({
    code: "not_found",
  });
  expect(await spend(exempt("1", "prj_nothing"), "1")).toBe(false);
});

describe("the recipients of a key", () => {
  test("are the only addresses that it may pay, in any letter case; without a list it may pay any address", () => {
    const [shop, eve] = [testAccount().address, testAccount().address];
    const actor = key({ recipients: [shop] });
    expect(() => policies.checkRecipient(actor, shop, "toAddress")).not.toThrow();
    expect(() =>
      policies.checkRecipient(actor, shop.toLowerCase() as `0x${string}`, "toAddress"),
    ).not.toThrow();
    for (const anybody of [person, key()])
      expect(() => policies.checkRecipient(anybody, eve, "recipient")).not.toThrow();
    expect(() => policies.checkRecipient(actor, eve, "recipient")).toThrow(
      expect.objectContaining({
        code: "recipient_not_allowed",
        details: [expect.objectContaining({ path: "recipient" }) as object],
      }),
    );
  });
});
