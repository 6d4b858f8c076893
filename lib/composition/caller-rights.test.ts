import { expect, test } from "vitest";
import { createServices } from "@/lib/composition";
import type { Role, UserActor } from "@/lib/core/actor";
import { type Permission, roleMay } from "@/lib/core/permissions";
import { testConfig } from "@/lib/dev/testing/devnet";
import * as rights from "./caller-rights";

// Nothing connects before its first use, and a refused caller causes no use, so the address need
// not answer.
const services = createServices(
  testConfig({ databaseUrl: "postgresql://nobody@127.0.0.1:1/none", rpcUrls: null }),
);

const person = (role: Role): UserActor => ({
  type: "user",
  userId: "usr_1",
  sessionId: "ses_1",
  projectId: "prj_1",
  role,
});

const TABLES = {
  quotes: rights.QUOTES,
  swaps: rights.SWAPS,
  transfers: rights.TRANSFERS,
  operations: rights.OPERATIONS,
  globalAccounts: rights.GLOBAL_ACCOUNTS,
  accountChanges: rights.ACCOUNT_CHANGES,
  annotations: rights.ANNOTATIONS,
  payouts: rights.PAYOUTS,
  payoutSchedules: rights.PAYOUT_SCHEDULES,
  privacy: rights.PRIVACY,
  contacts: rights.CONTACTS,
  deposits: rights.DEPOSITS,
  wallets: rights.WALLETS,
} as const satisfies Partial<Record<keyof typeof services, unknown>>;

const guarded = Object.entries(TABLES).flatMap(([service, table]) =>
  Object.entries(table as Record<string, Permission | null>).flatMap(([name, permission]) =>
    permission === null ? [] : [[service as keyof typeof TABLES, name, permission] as const],
  ),
);

/** The code of the refusal; null when the caller was not refused. */
const refusalOf = (
  service: keyof typeof TABLES,
  name: string,
  role: Role,
): Promise<string | null> => {
  const work = (
    services[service] as unknown as Record<string, (actor: UserActor) => Promise<unknown>>
  )[name];
  if (work === undefined) throw new Error(`${service} has no ${name}.`);
  return work(person(role)).then(
    () => null,
    (error: unknown) =>
      (error as { code?: string }).code === "forbidden" ? "forbidden" : null,
  );
};

test("every table is tried here", () => {
  // The private wallets are a part of the service `privacy`. Everybody may read the
  // activity, and the service of exports checks the rights of each kind itself.
  const tried = new Set<unknown>([
    ...Object.values(TABLES),
    rights.PRIVATE_WALLETS,
    rights.ACTIVITY,
    rights.EXPORTS,
  ]);
  expect(tried).toEqual(new Set<unknown>(Object.values(rights)));
});

test("there are guarded functions of every service", () => {
  expect(new Set(guarded.map(([service]) => service))).toEqual(new Set(Object.keys(TABLES)));
});

test.each(guarded)(
  "%s.%s refuses a viewer before it looks at anything: it needs %s",
  async (service, name) => {
    expect(await refusalOf(service, name, "viewer")).toBe("forbidden");
  },
);

test.each(guarded)(
  "%s.%s refuses an operator just where the role lacks the permission",
  async (service, name, permission) => {
    expect(await refusalOf(service, name, "operator")).toBe(
      roleMay("operator", permission) ? null : "forbidden",
    );
  },
);

test.each(guarded)("%s.%s does not refuse an owner for the role", async (service, name) => {
  expect(await refusalOf(service, name, "owner")).toBeNull();
});
