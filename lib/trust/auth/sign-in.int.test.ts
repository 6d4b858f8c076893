import { generateSiweNonce } from "viem/siwe";
import { beforeAll, expect, test } from "vitest";
import { isDomainError } from "@/lib/core/errors";
import type { Database } from "@/lib/platform/db/client";
import {
  createAuthServices,
  movableClock,
  TEST_CHAIN_ID,
} from "@/lib/dev/testing/auth-services";
import { testDatabase, asOwner } from "@/lib/dev/testing/database";

let database: Database;
let url: string;
beforeAll(async () => {
  ({ database, url } = await testDatabase());
});

const setUp = () => {
  const time = movableClock();
  return { ...createAuthServices({ database, time }), ...time };
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => (isDomainError(error) ? error.code : String(error)),
  );

const countsOf = async (address: string) => {
  const { prisma } = database;
  const users = await prisma.user.findMany({
    where: { address },
    include: { memberships: true, sessions: true },
  });
  const projectIds = users.flatMap(({ memberships }) =>
    memberships.map(({ projectId }) => projectId),
  );
  const inProjects = { where: { projectId: { in: projectIds } } };
  return {
    users: users.length,
    projects: projectIds.length,
    sessions: users.flatMap(({ sessions }) => sessions).length,
    wallets: await prisma.wallet.count(inProjects),
    keys: await prisma.managedKey.count(inProjects),
  };
};

test("the first sign-in creates the person, the project and its treasury; the next one finds them", async () => {
  const { signIn, newAccount, projects, wallets, auth } = setUp();
  const account = newAccount();
  const first = await signIn(account);
  expect(first.address).toBe(account.address);
  expect(await countsOf(account.address)).toEqual({
    users: 1,
    projects: 1,
    sessions: 1,
    wallets: 1,
    keys: 1,
  });
  const [project] = await projects.list(first.userId);
  expect(project).toMatchObject({ name: "My project", role: "owner" });
  const [treasury] = await wallets.list(project?.projectId ?? "");
  expect(treasury).toMatchObject({ kind: "treasury", label: "Treasury" });
  expect((await signIn(account)).userId).toBe(first.userId);
  expect(await countsOf(account.address)).toEqual({
    users: 1,
    projects: 1,
    sessions: 2,
    wallets: 1,
    keys: 1,
  });
  expect(await auth.verifyAccessToken(first.accessToken)).toMatchObject({
    userId: first.userId,
  });
});

test("fifty concurrent first sign-ins over two instances create one of each", async () => {
  const time = movableClock();
  const one = createAuthServices({ database, time });
  const two = createAuthServices({ database, time });
  const account = one.newAccount();
  const all = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      i % 2 === 0 ? one.signIn(account) : two.signIn(account),
    ),
  );
  expect(new Set(all.map(({ userId }) => userId)).size).toBe(1);
  expect(await countsOf(account.address)).toEqual({
    users: 1,
    projects: 1,
    sessions: 50,
    wallets: 1,
    keys: 1,
  });
});

test("the next sign-in completes what a crash interrupted", async () => {
  const { signIn, newAccount, actorOf, wallets } = setUp();
  const account = newAccount();
  const actor = await actorOf(await signIn(account));
  const [before] = await wallets.list(actor.projectId);
  await asOwner(url, "DELETE FROM wallet WHERE project_id = $1", [actor.projectId]);
  await signIn(account);
  const [after] = await wallets.list(actor.projectId);
  expect(after?.address).toBe(before?.address);
});

test("of fifty concurrent uses of one nonce one signs in, and the others get the error that it was used", async () => {
  const { auth, newAccount, messageFor } = setUp();
  const account = newAccount();
  const message = await messageFor(account);
  const signature = await account.signMessage({ message });
  const tries = Array.from({ length: 50 }, () =>
    codeOf(auth.signIn({ message, signature, kind: "api" })),
  );
  const outcomes = await Promise.all(tries);
  expect(outcomes.filter((outcome) => outcome === "ok")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "nonce_expired")).toHaveLength(49);
  expect((await countsOf(account.address)).sessions).toBe(1);
});

test("a nonce is valid for ten minutes, and an unknown nonce is refused", async () => {
  const { auth, newAccount, messageFor, advance } = setUp();
  const account = newAccount();
  const outcome = async (message: string) =>
    codeOf(
      auth.signIn({ message, signature: await account.signMessage({ message }), kind: "api" }),
    );
  const late = await messageFor(account);
  const inTime = await messageFor(account);
  advance(599);
  expect(await outcome(inTime)).toBe("ok");
  advance(1);
  expect(await outcome(late)).toBe("nonce_expired");
  expect(await outcome(await messageFor(account, { nonce: generateSiweNonce() }))).toBe(
    "invalid_signature",
  );
});

test("a nonce that was given to an address works for no other", async () => {
  const { auth, newAccount, messageFor } = setUp();
  const [ada, eve] = [newAccount(), newAccount()];
  const { nonce } = await auth.createNonce({ address: ada.address });
  const message = await messageFor(eve, { nonce });
  const signature = await eve.signMessage({ message });
  expect(await codeOf(auth.signIn({ message, signature, kind: "api" }))).toBe(
    "invalid_signature",
  );
});

test("a signature of another wallet or message, or of a wrong length, is refused and uses up its nonce", async () => {
  const { auth, newAccount, messageFor } = setUp();
  const [account, other] = [newAccount(), newAccount()];
  const bad: ((message: string) => Promise<string>)[] = [
    (message) => other.signMessage({ message }),
    (message) => account.signMessage({ message: `${message} ` }),
    () => Promise.resolve("0x12"),
    () => Promise.resolve(`0x${"ab".repeat(500)}`),
  ];
  for (const sign of bad) {
    const message = await messageFor(account);
    const attempt = (signature: string) =>
      codeOf(auth.signIn({ message, signature, kind: "api" }));
    expect(await attempt(await sign(message))).toBe("invalid_signature");
    expect(await attempt(await account.signMessage({ message }))).toBe("nonce_expired");
  }
  expect(await countsOf(account.address)).toMatchObject({ users: 0 });
});

test("a chain is asked once for each nonce, however many concurrent attempts use it", async () => {
  let asked = 0;
  const registry = {
    list: () => [{ id: TEST_CHAIN_ID }],
    client: () => ({
      call: () => {
        asked += 1;
        return Promise.resolve({ data: "0x00" as const });
      },
      getChainId: () => Promise.resolve(TEST_CHAIN_ID),
    }),
  };
  const { auth, newAccount, messageFor } = createAuthServices({ database, registry });
  const message = await messageFor(newAccount());
  const attempts = Array.from({ length: 20 }, (_, index) =>
    codeOf(
      auth.signIn({ message, signature: `0x12${String(index).padStart(2, "0")}`, kind: "api" }),
    ),
  );
  const outcomes = await Promise.all(attempts);
  expect(outcomes.toSorted()).toEqual([
    "invalid_signature",
    ...Array<string>(19).fill("nonce_expired"),
  ]);
  expect(asked).toBe(1);
});

test("a message for another address does not use up the nonce of an address", async () => {
  const { auth, newAccount, messageFor } = setUp();
  const [ada, eve] = [newAccount(), newAccount()];
  const { nonce } = await auth.createNonce({ address: ada.address });
  const evesMessage = await messageFor(eve, { nonce });
  expect(
    await codeOf(auth.signIn({ message: evesMessage, signature: "0x12", kind: "api" })),
  ).toBe("invalid_signature");
  const message = await messageFor(ada, { nonce });
  const signature = await ada.signMessage({ message });
  expect(await codeOf(auth.signIn({ message, signature, kind: "api" }))).toBe("ok");
});

test.each([
  ["another site", { domain: "evil.example" }],
  ["another site's address", { uri: "https://evil.example" }],
  ["a chain that is not used here", { chainId: 1 }],
  ["a time that is over", { expirationTime: new Date("2025-12-31T00:00:00Z") }],
])("sign-in: a message for %s is refused, well signed as it may be", async (_what, changes) => {
  const { auth, newAccount, messageFor } = setUp();
  const account = newAccount();
  const message = await messageFor(account, changes);
  const signature = await account.signMessage({ message });
  expect(await codeOf(auth.signIn({ message, signature, kind: "api" }))).toBe(
    "invalid_signature",
  );
});

test.each([
  [
    "statement",
    (message: string) =>
      message.replace("Sign in to Causeway.", "Sign in to Causeway, as Eve."),
  ],
  [
    "address",
    (message: string) =>
      message.replace(/0x[0-9a-fA-F]{40}/, "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"),
  ],
  ["chain", (message: string) => message.replace(/Chain ID: \d+/, "Chain ID: 1")],
  ["domain", (message: string) => message.replace(/^\S+/, "evil.example")],
  ["URI", (message: string) => message.replace(/URI: \S+/, "URI: https://evil.example")],
  [
    "nonce",
    (message: string) => message.replace(/Nonce: \S+/, `Nonce: ${generateSiweNonce()}`),
  ],
  [
    "time",
    (message: string) =>
      message.replace(/(Issued At: \d{4}-\d\d-\d\dT\d\d:\d\d):\d\d/, "$1:59"),
  ],
])(
  "sign-in: a message whose %s was altered after it was signed is refused",
  async (_what, alter) => {
    const { auth, newAccount, messageFor } = setUp();
    const account = newAccount();
    const message = await messageFor(account, { statement: "Sign in to Causeway." });
    const signature = await account.signMessage({ message });
    const altered = alter(message);
    expect(altered).not.toBe(message);
    expect(await codeOf(auth.signIn({ message: altered, signature, kind: "api" }))).toBe(
      "invalid_signature",
    );
  },
);

test("a plain account needs no chain; a contract whose chain does not answer gets that error", async () => {
  const away = () => Promise.reject(new Error("connection refused"));
  const registry = {
    list: () => [{ id: TEST_CHAIN_ID }],
    client: () => ({ call: away, getChainId: away }),
  };
  const { auth, signIn, newAccount, messageFor } = createAuthServices({ database, registry });
  const account = newAccount();
  expect((await signIn(account)).address).toBe(account.address);
  const message = await messageFor(account);
  expect(await codeOf(auth.signIn({ message, signature: "0x1234", kind: "api" }))).toBe(
    "chain_unavailable",
  );
});

test("the audit log records each sign-in and sign-out", async () => {
  const { auth, signIn } = setUp();
  const { userId, sessionId } = await signIn();
  await auth.logout(sessionId);
  const events = await database.prisma.auditEvent.findMany({
    where: { actor: userId },
    orderBy: { id: "asc" },
  });
  expect(events.map(({ action }) => action).toSorted()).toEqual(
    ["project.created", "session.created", "session.revoked", "user.created"].toSorted(),
  );
});
