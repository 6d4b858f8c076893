/**
 * Checks that whoever may take the first step of an approval or of a code may take the next one: by
 * sign-in, role and scope.
 */
import { expect, test } from "vitest";
import { ROLES } from "@/lib/core/actor";
import { roleMay } from "@/lib/core/permissions";
import { contracts } from "./all";
import type { Contract, Scope } from "./contract";

const routeOf = ({ method, path }: Contract): string => `${method} ${path}`;
const byRoute = new Map(contracts.map((contract) => [routeOf(contract), contract]));

/**
 * Approves a waiting object with a code that POST /swap/request-otp sends only to people
 * (request-otp.int.test.ts).
 */
const FOR_PEOPLE = "a code for people only";

/**
 * For each route that accepts a code or a challenge of an earlier step: the routes of that step. A
 * new route fails until it is added here.
 */
const FIRST_STEPS: Readonly<Record<string, readonly string[] | typeof FOR_PEOPLE>> = {
  "POST /swap/prepare": ["POST /swap/quote", "POST /transfers"],
  "POST /swap/execute": ["POST /swap/prepare"],
  "POST /privacy/swap/prepare": ["POST /privacy/swap/quote"],
  "POST /operations/{id}/approve": FOR_PEOPLE,
  "POST /payouts/{id}/approve": FOR_PEOPLE,
  "POST /payouts/schedules/{id}/approve": FOR_PEOPLE,
  "POST /approvals/{id}/approve": ["POST /approvals/{id}/request-otp"],
  "POST /approvals/{id}/decline": ["POST /approvals/{id}/request-otp"],
  "POST /approvals/approve": ["POST /approvals/request-otp"],
  "POST /me/email/verify": ["PATCH /me"],
  "POST /me/factors/totp/confirm": ["POST /me/factors/totp"],
};
/** Steps without a code, in the order in which they are taken. */
const SEQUENCES = [
  ["POST /privacy/swap/prepare", "POST /privacy/swap/execute"],
  ["POST /me/passkeys/options", "POST /me/passkeys"],
  ["POST /wallets/link/init", "POST /wallets/link/verify"],
  ["POST /invitations/lookup", "POST /invitations/accept"],
] as const;

const contractOf = (route: string): Contract => {
  const found = byRoute.get(route);
  if (found === undefined) throw new Error(`There is no route ${route}.`);
  return found;
};

const scopesOf = ({ scope = [] }: Contract): readonly Scope[] =>
  typeof scope === "string" ? [scope] : scope;

/** Roles and scopes that the HTTP layer admits to the operation. */
const admitted = (contract: Contract): readonly string[] => {
  const roles = ROLES.filter(
    (role) =>
      (contract.personal === true || role !== "viewer") &&
      (contract.permission === undefined || roleMay(role, contract.permission)),
  );
  const scopes = contract.auth === "member" ? scopesOf(contract) : [];
  return [...roles.map((role) => `role ${role}`), ...scopes.map((scope) => `scope ${scope}`)];
};

const isCode = (contract: Contract): boolean =>
  ["otp_required", "otp_invalid"].some(
    (code) => contract.errors?.includes(code as "otp_required") === true,
  );
const asksApproval = (contract: Contract): boolean =>
  contract.errors?.includes("approval_required") === true;

test("every route that takes a code names the step before it", () => {
  const taking = contracts
    .filter((contract) => isCode(contract) && !asksApproval(contract))
    .map(routeOf);
  expect(taking.length).toBeGreaterThan(5);
  expect(Object.keys(FIRST_STEPS)).toEqual(expect.arrayContaining(taking));
  const pairs = Object.entries(FIRST_STEPS).flatMap(([next, firsts]) =>
    firsts === FOR_PEOPLE ? [] : firsts.map((first) => [first, next] as const),
  );
  for (const [first, next] of [...pairs, ...SEQUENCES]) {
    const [before, after] = [admitted(contractOf(first)), admitted(contractOf(next))];
    expect(after, `${first}, then ${next}`).toEqual(expect.arrayContaining([...before]));
  }
});

/**
 * Routes that keys may call for other changes. For a change that needs an approval, the service
 * refuses keys (followable.int.test.ts).
 */
const REFUSES_KEYS = new Set([
  "PATCH /webhook-endpoints/{id}",
  "POST /webhook-endpoints/{id}/rotate",
]);

test("a route that answers approval_required, or takes a code for people only, admits no API key", () => {
  const asking = contracts.filter(
    (contract) => asksApproval(contract) && !REFUSES_KEYS.has(routeOf(contract)),
  );
  expect(asking.length).toBeGreaterThan(10);
  const forPeople = Object.entries(FIRST_STEPS).flatMap(([route, first]) =>
    first === FOR_PEOPLE ? [contractOf(route)] : [],
  );
  for (const contract of [...asking, ...forPeople])
    expect(contract.auth, routeOf(contract)).toBe("user");
});
