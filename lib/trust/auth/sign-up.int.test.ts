import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { addSeconds } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { newId } from "@/lib/core/ids";
import { hashOf } from "@/lib/trust/members/invitations";
import { createAuthServices, movableClock } from "@/lib/dev/testing/auth-services";
import { testDatabase } from "@/lib/dev/testing/database";
import type { SignUpRule } from "./service";

const { database } = await testDatabase();
const { prisma } = database;

const CLOSED: SignUpRule = { mode: "closed" };
const instance = (signUp: SignUpRule) =>
  createAuthServices({ database, signUp, time: movableClock() });

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

// The tests run one after another. The first one needs an empty installation, and the others need
// the people whom the first one created.
describe("closed sign-up", () => {
  test("of fifty people who sign in at once on two instances of an empty installation admits one, and leaves nothing of the others", async () => {
    const [one, two] = [instance(CLOSED), instance(CLOSED)];
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) => outcome((index % 2 === 0 ? one : two).signIn())),
    );
    expect(outcomes.filter((each) => each === "ok")).toHaveLength(1);
    expect(outcomes.filter((each) => each === "sign_up_closed")).toHaveLength(49);
    expect(await rowsOf()).toEqual({ users: 1, projects: 1, wallets: 1, sessions: 1 });
    expect(await prisma.membership.findMany({ select: { role: true } })).toEqual([
      { role: "owner" },
    ]);
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

describe("an invitation where sign-up is closed", () => {
  const DAY_SECONDS = 24 * 3600;
  const [time, inviter] = [movableClock(), { id: "", projectId: "" }];
  const closed = createAuthServices({ database, signUp: CLOSED, time });

  /** Stores an invitation. @returns its token */
  const invite = async (
    fields: Partial<{ expiresAt: Date; withdrawnAt: Date; acceptedAt: Date }> = {},
  ) => {
    if (inviter.id === "") {
      const { userId } = await createAuthServices({ database, time }).signIn();
      const { projectId } = await prisma.membership.findFirstOrThrow({ where: { userId } });
      Object.assign(inviter, { id: userId, projectId });
    }
    const [id, token] = [newId("invitation"), randomBytes(32).toString("hex")];
    const now = time.clock.now();
    const times = { createdAt: now, expiresAt: addSeconds(now, 7 * DAY_SECONDS) };
    const of = {
      projectId: inviter.projectId,
      invitedBy: inviter.id,
      email: `${id}@example.com`,
      role: "viewer",
    };
    await prisma.invitation.create({
      data: { id, ...of, ...times, tokenHash: hashOf(token), ...fields },
    });
    return { id, token };
  };

  test("lets its holder in, who belongs to no project of the inviter before the mailed address accepts it", async () => {
    const { id, token } = await invite();
    const { userId } = await closed.signIn(closed.newAccount(), "api", { invitation: token });
    const memberships = await prisma.membership.findMany({ where: { userId } });
    expect(memberships.map(({ projectId }) => projectId)).not.toContain(inviter.projectId);
    expect(memberships.map(({ placeholder }) => placeholder)).toEqual([true]);
    expect(await prisma.invitation.findUniqueOrThrow({ where: { id } })).toMatchObject({
      acceptedAt: null,
    });
  });

  test("that is unknown, expired, withdrawn or accepted lets nobody in, and leaves nothing of the person", async () => {
    const now = time.clock.now();
    const ended = [
      { token: "unknown" },
      await invite({ expiresAt: now }),
      await invite({ withdrawnAt: now }),
      await invite({ acceptedAt: now }),
    ];
    const rows = await rowsOf();
    for (const { token } of ended)
      expect(
        await outcome(closed.signIn(closed.newAccount(), "api", { invitation: token })),
      ).toBe("sign_up_closed");
    expect(await rowsOf()).toEqual(rows);
  });

  test("is not needed by people who were there before, whatever they send", async () => {
    const account = closed.newAccount();
    const before = await instance({ mode: "open" }).signIn(account);
    expect((await closed.signIn(account, "api", { invitation: "unknown" })).userId).toBe(
      before.userId,
    );
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
