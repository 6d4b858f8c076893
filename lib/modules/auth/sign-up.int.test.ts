import { describe, expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import { createAuthServices, movableClock } from "@/lib/testing/auth-services";
import { testDatabase } from "@/lib/testing/database";
import type { SignUpRule } from "./sign-up";

const { database } = await testDatabase();
const { prisma } = database;

const CLOSED: SignUpRule = { mode: "closed" };
const instance = (signUp: SignUpRule) => createAuthServices({ database, signUp, time: movableClock() });

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

const rowsOf = async () => ({
  users: await prisma.user.count(),
  projects: await prisma.project.count(),
  wallets: await prisma.wallet.count(),
  sessions: await prisma.session.count(),
});

// One after the other: the first test finds the installation empty, and the others what it left.
describe("closed sign-up", () => {
  test("of fifty people who sign in at once on two instances of an empty installation admits one, and leaves nothing of the others", async () => {
    const [one, two] = [instance(CLOSED), instance(CLOSED)];
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => outcome((index % 2 === 0 ? one : two).signIn())),
    );
    expect(outcomes.filter((each) => each === "ok")).toHaveLength(1);
    expect(outcomes.filter((each) => each === "sign_up_closed")).toHaveLength(49);
    expect(await rowsOf()).toEqual({ users: 1, projects: 1, wallets: 1, sessions: 1 });
    expect(await prisma.membership.findMany({ select: { role: true } })).toEqual([{ role: "owner" }]);
  });

  test("lets people in who were there before, and nobody else", async () => {
    const account = instance(CLOSED).newAccount();
    const before = await instance({ mode: "open" }).signIn(account);
    const rows = await rowsOf();
    expect((await instance(CLOSED).signIn(account)).userId).toBe(before.userId);
    expect(await outcome(instance(CLOSED).signIn())).toBe("sign_up_closed");
    expect(await rowsOf()).toEqual({ ...rows, sessions: rows.sessions + 1 });
  });
});

describe("closed sign-up on an installation of its own", () => {
  test("takes the first person who signs in fifty times at once for one person", async () => {
    const own = await testDatabase();
    const services = createAuthServices({ database: own.database, signUp: CLOSED });
    const account = services.newAccount();
    const all = await Promise.all(Array.from({ length: 50 }, () => services.signIn(account)));
    expect(new Set(all.map(({ userId }) => userId)).size).toBe(1);
    expect(await own.database.prisma.user.count()).toBe(1);
  });
});

describe("an allow-list", () => {
  test("admits its addresses and whoever was there before", async () => {
    const { newAccount } = instance(CLOSED);
    const [listed, known, stranger] = [newAccount(), newAccount(), newAccount()];
    await instance({ mode: "open" }).signIn(known);
    const { signIn } = instance({ mode: "allow-list", addresses: [listed.address] });
    expect(await outcome(signIn(listed))).toBe("ok");
    expect(await outcome(signIn(known))).toBe("ok");
    expect(await outcome(signIn(stranger))).toBe("sign_up_closed");
    expect(await prisma.user.count({ where: { address: stranger.address } })).toBe(0);
  });
});

test("open sign-up admits everybody", async () => {
  expect(await outcome(instance({ mode: "open" }).signIn())).toBe("ok");
});
