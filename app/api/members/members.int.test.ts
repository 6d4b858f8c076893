import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { listApiKeys, rotateApiKey } from "@/lib/contracts/api-keys";
import { listAuditLog } from "@/lib/contracts/audit";
import { getMe, updateMe, whoAmI } from "@/lib/contracts/auth";
import {
  acceptInvitation,
  createInvitation,
  createProject,
  listInvitations,
  listMembers,
  lookUpInvitation,
  removeMember,
  updateMember,
  updateProject,
  withdrawInvitation,
} from "@/lib/contracts/members";
import { listWallets } from "@/lib/contracts/wallets";
import type { ApiClient } from "@/lib/api-client/client";
import type { Role } from "@/lib/core/actor";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ devnet: false, worker: true });
});

const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "ok",
    (error: unknown) => error,
  );

const projectOf = async (session: TestSession): Promise<string> =>
  (await session.client.call(getMe)).projects[0]?.id ?? "";

const userOf = async (session: TestSession): Promise<string> =>
  (await session.client.call(getMe)).id;

/** Calls of the person in that project. */
const inProject = (session: TestSession, projectId: string): ApiClient =>
  api.client({ authorization: `Bearer ${session.accessToken}`, "x-project-id": projectId });

/** The person who invites has a verified address. */
const invite = async (owner: TestSession, email: string, role: Role) => {
  if (!(await owner.client.call(getMe)).emailVerified) await api.verifiedEmail(owner);
  return inviteAnyhow(owner, email, role);
};

const inviteAnyhow = (owner: TestSession, email: string, role: Role) =>
  withApproval(owner.account, (approval) =>
    owner.client.call(createInvitation, {
      body: { email, role, ...(approval ? { approval } : {}) },
    }),
  );

/** The token of the newest link that was mailed to the address. */
const mailedToken = (email: string, except: readonly string[] = []): Promise<string> =>
  vi.waitFor(
    async () => {
      const mails = (await api.services.inbox?.list({ to: email, limit: 20 })) ?? [];
      const found = mails
        .map(({ text }) => /\/join#([0-9A-Za-z]{43})/.exec(text)?.[1])
        .find((token) => token !== undefined && !except.includes(token));
      if (found === undefined) throw new Error(`No invitation was mailed to ${email}.`);
      return found;
    },
    { timeout: 20_000 },
  );

/** A new person who joined the owner's project with that role. */
const member = async (owner: TestSession, role: Role) => {
  const session = await api.signIn();
  const email = await api.verifiedEmail(session);
  await invite(owner, email, role);
  const token = await mailedToken(email);
  const { projectId } = await session.client.call(acceptInvitation, { body: { token } });
  return {
    session,
    email,
    token,
    projectId,
    userId: await userOf(session),
    client: inProject(session, projectId),
  };
};

/** Removes the member, approved by the wallet of the owner where that is needed. */
const removeBy = (owner: TestSession, userId: string, client = owner.client) =>
  withApproval(owner.account, (approval) =>
    client.call(removeMember, { params: { id: userId }, body: approval ? { approval } : {} }),
  );

const changeRole = (owner: TestSession, userId: string, role: Role) =>
  withApproval(owner.account, (approval) =>
    owner.client.call(updateMember, {
      params: { id: userId },
      body: { role, ...(approval ? { approval } : {}) },
    }),
  );

describe("invitations", () => {
  test("an invitation needs an approval, is mailed, and lets the invited address in once", async () => {
    const owner = await api.signIn();
    const projectId = await projectOf(owner);
    const guest = await api.signIn();
    const email = await api.verifiedEmail(guest);
    await api.verifiedEmail(owner);
    const unapproved = owner.client.call(createInvitation, {
      body: { email, role: "operator" },
    });
    expect(await refusal(unapproved)).toMatchObject({ status: 409, code: "approval_required" });
    expect((await owner.client.call(listInvitations)).data).toEqual([]);
    const invitation = await invite(owner, email.toUpperCase(), "operator");
    expect(invitation).toMatchObject({
      email,
      role: "operator",
      status: "open",
      acceptedBy: null,
    });
    const token = await mailedToken(email);
    const seen = await guest.client.call(lookUpInvitation, { body: { token } });
    expect(seen).toMatchObject({
      email,
      role: "operator",
      status: "open",
      projectName: "My project",
    });
    const joined = await guest.client.call(acceptInvitation, { body: { token } });
    expect(joined).toEqual({ projectId, role: "operator" });
    expect(await guest.client.call(acceptInvitation, { body: { token } })).toEqual(joined);
    const there = await inProject(guest, projectId).call(whoAmI);
    expect(there).toMatchObject({ projectId, role: "operator" });
    const { data } = await owner.client.call(listMembers);
    expect(data.map(({ role }) => role)).toEqual(["owner", "operator"]);
    expect(data[1]).toMatchObject({ email, id: await userOf(guest) });
  });

  test("the project that the sign-in of an invited person made comes last until it is renamed", async () => {
    const owner = await api.signIn();
    const projectId = await projectOf(owner);
    const email = `guest-${randomUUID()}@example.test`;
    await invite(owner, email, "operator");
    const token = await mailedToken(email);
    const guest = await api.signIn(undefined, token);
    const own = await projectOf(guest);
    const listed = async () =>
      (await guest.client.call(getMe)).projects.map((one) =>
        one.placeholder ? "last" : one.id,
      );
    await api.verifiedEmail(guest, email);
    await guest.client.call(acceptInvitation, { body: { token } });
    expect(await listed()).toEqual([projectId, "last"]);
    expect(await guest.client.call(whoAmI)).toMatchObject({ projectId });
    const body = { name: "Bakery" };
    await inProject(guest, own).call(updateProject, { params: { id: own }, body });
    expect(await listed()).toEqual([own, projectId]);
  });

  test("somebody else who holds the link cannot accept it, with another address or with none", async () => {
    const owner = await api.signIn();
    const guest = await api.signIn();
    const email = await api.verifiedEmail(guest);
    await invite(owner, email, "admin");
    const token = await mailedToken(email);
    const eve = await api.signIn();
    const withoutAddress = await refusal(
      eve.client.call(acceptInvitation, { body: { token } }),
    );
    expect(withoutAddress).toMatchObject({ status: 403, code: "forbidden" });
    await api.verifiedEmail(eve);
    expect(await refusal(eve.client.call(acceptInvitation, { body: { token } }))).toMatchObject(
      {
        status: 403,
      },
    );
    expect((await owner.client.call(listMembers)).data).toHaveLength(1);
  });

  test("a withdrawn or expired invitation, one that a newer one replaced, and an unknown token let nobody in", async () => {
    const owner = await api.signIn();
    const guest = await api.signIn();
    const email = await api.verifiedEmail(guest);
    const accept = (token: string) =>
      refusal(guest.client.call(acceptInvitation, { body: { token } }));
    await invite(owner, email, "viewer");
    const replaced = await mailedToken(email);
    const second = await invite(owner, email, "viewer");
    const withdrawn = await mailedToken(email, [replaced]);
    expect(await accept(replaced)).toMatchObject({ status: 409, code: "invalid_state" });
    await owner.client.call(withdrawInvitation, { params: { id: second.id } });
    expect(await accept(withdrawn)).toMatchObject({ status: 409, code: "invalid_state" });
    const third = await invite(owner, email, "viewer");
    const expired = await mailedToken(email, [replaced, withdrawn]);
    await api.services.database.prisma.invitation.update({
      where: { id: third.id },
      data: { expiresAt: new Date(0) },
    });
    expect(await accept(expired)).toMatchObject({ status: 409, code: "invalid_state" });
    expect(await accept("A".repeat(43))).toMatchObject({ status: 404 });
    expect((await owner.client.call(listInvitations)).data.map(({ status }) => status)).toEqual(
      ["expired", "withdrawn", "withdrawn"],
    );
    expect((await owner.client.call(listMembers)).data).toHaveLength(1);
  });

  test("twenty accepts at once make one membership", async () => {
    const owner = await api.signIn();
    const guest = await api.signIn();
    const email = await api.verifiedEmail(guest);
    await invite(owner, email, "viewer");
    const token = await mailedToken(email);
    const accepts = Array.from({ length: 20 }, () =>
      guest.client.call(acceptInvitation, { body: { token } }),
    );
    const ended = await Promise.allSettled(accepts);
    expect(ended.some(({ status }) => status === "fulfilled")).toBe(true);
    expect((await owner.client.call(listMembers)).data).toHaveLength(2);
  });
});

describe("roles", () => {
  test("a role that may do more needs an approval, and so does a lower one for an owner or admin", async () => {
    const owner = await api.signIn();
    const { userId, client } = await member(owner, "viewer");
    const change = (role: Role, approval?: { approvalId: string; signature: string }) =>
      owner.client.call(updateMember, {
        params: { id: userId },
        body: { role, ...(approval ? { approval } : {}) },
      });
    expect(await refusal(change("admin"))).toMatchObject({
      status: 409,
      code: "approval_required",
    });
    expect(await client.call(whoAmI)).toMatchObject({ role: "viewer" });
    expect(
      await withApproval(owner.account, (approval) => change("admin", approval)),
    ).toMatchObject({ role: "admin" });
    await vi.waitFor(
      async () => expect(await client.call(whoAmI)).toMatchObject({ role: "admin" }),
      20_000,
    );
    expect(await refusal(change("operator"))).toMatchObject({
      status: 409,
      code: "approval_required",
    });
    expect(await client.call(whoAmI)).toMatchObject({ role: "admin" });
    const lowered = await withApproval(owner.account, (approval) =>
      change("operator", approval),
    );
    expect(lowered).toMatchObject({ role: "operator" });
    await vi.waitFor(
      async () => expect(await client.call(whoAmI)).toMatchObject({ role: "operator" }),
      20_000,
    );
    expect(await change("viewer")).toMatchObject({ role: "viewer" });
  });

  test("operators and viewers manage nobody, and an admin makes, changes and removes no owner", async () => {
    const owner = await api.signIn();
    const ownerId = await userOf(owner);
    const [operator, admin] = [await member(owner, "operator"), await member(owner, "admin")];
    const email = "new@example.test";
    // Awaited together: the last one may be refused first.
    const attempts = (client: ApiClient, role: Role) =>
      Promise.all([
        refusal(client.call(createInvitation, { body: { email, role } })),
        refusal(client.call(updateMember, { params: { id: operator.userId }, body: { role } })),
        refusal(client.call(removeMember, { params: { id: ownerId }, body: {} })),
      ]);
    for (const refused of await attempts(operator.client, "viewer"))
      expect(refused).toMatchObject({ status: 403, code: "forbidden" });
    expect(await refusal(operator.client.call(listInvitations))).toMatchObject({ status: 403 });
    for (const refused of await attempts(admin.client, "owner"))
      expect(refused).toMatchObject({ status: 403, code: "forbidden" });
    expect((await owner.client.call(listMembers)).data.map(({ role }) => role)).toEqual([
      "owner",
      "operator",
      "admin",
    ]);
  });

  test("the last owner stays: of two owners who leave at once one goes", async () => {
    const owner = await api.signIn();
    const ownerId = await userOf(owner);
    expect(
      await refusal(owner.client.call(removeMember, { params: { id: ownerId }, body: {} })),
    ).toMatchObject({
      status: 409,
      code: "invalid_state",
    });
    const demote = owner.client.call(updateMember, {
      params: { id: ownerId },
      body: { role: "admin" },
    });
    expect(await refusal(demote)).toMatchObject({ status: 409, code: "invalid_state" });
    const second = await member(owner, "owner");
    const outcomes = await Promise.all([
      refusal(removeBy(owner, ownerId, inProject(owner, second.projectId))),
      refusal(removeBy(second.session, second.userId, second.client)),
    ]);
    expect(outcomes.filter((one) => one === "ok")).toHaveLength(1);
    const left = await api.services.database.prisma.membership.findMany({
      where: { projectId: second.projectId },
    });
    expect(left.map(({ role }) => role)).toEqual(["owner"]);
  });
});

test("a removed member has no access, and the person's keys and invitations of the project end", async () => {
  const owner = await api.signIn();
  const admin = await member(owner, "admin");
  const { client: keyClient } = await api.createKey({ ...admin.session, client: admin.client });
  expect(await keyClient.call(whoAmI)).toMatchObject({ projectId: admin.projectId });
  const own = await api.createKey(admin.session);
  const guest = await api.signIn();
  const email = await api.verifiedEmail(guest);
  await invite({ ...admin.session, client: admin.client }, email, "viewer");
  const token = await mailedToken(email);
  await removeBy(owner, admin.userId);
  await vi.waitFor(
    async () =>
      expect(await refusal(admin.client.call(listMembers))).toMatchObject({ status: 404 }),
    20_000,
  );
  await vi.waitFor(
    async () =>
      expect(await refusal(keyClient.call(whoAmI))).toMatchObject({
        status: 401,
        code: "api_key_revoked",
      }),
    20_000,
  );
  expect(await own.client.call(whoAmI)).toMatchObject({ type: "apiKey" });
  expect(await refusal(guest.client.call(acceptInvitation, { body: { token } }))).toMatchObject(
    {
      status: 409,
    },
  );
  expect(
    (await owner.client.call(listApiKeys)).data.every(({ revokedAt }) => revokedAt !== null),
  ).toBe(true);
});

test.each(["operator", "viewer"] as const)(
  "an admin who becomes %s keeps no API key that the person made, and no invitation of the person lets anybody in",
  async (role) => {
    const owner = await api.signIn();
    const admin = await member(owner, "admin");
    const made = await api.createKey({ ...admin.session, client: admin.client });
    const others = await api.createKey(owner);
    const guest = await api.signIn();
    const email = await api.verifiedEmail(guest);
    await invite({ ...admin.session, client: admin.client }, email, "admin");
    const token = await mailedToken(email);
    await changeRole(owner, admin.userId, role);
    await vi.waitFor(
      async () =>
        expect(await refusal(made.client.call(whoAmI))).toMatchObject({
          status: 401,
          code: "api_key_revoked",
        }),
      20_000,
    );
    expect(await others.client.call(whoAmI)).toMatchObject({ projectId: admin.projectId });
    expect(
      await refusal(guest.client.call(acceptInvitation, { body: { token } })),
    ).toMatchObject({
      status: 409,
    });
  },
);

test("a removed member keeps no key of somebody else whose present secret the person made, and other keys go on", async () => {
  const owner = await api.signIn();
  const admin = await member(owner, "admin");
  const rotate = async (by: ApiClient, id: string, overlapSeconds: number) => {
    const signer = by === owner.client ? owner.account : admin.session.account;
    const { secret } = await withApproval(signer, (approval) =>
      by.call(rotateApiKey, {
        params: { id },
        body: { overlapSeconds, ...(approval ? { approval } : {}) },
      }),
    );
    return api.client({ "x-api-key": secret });
  };
  const [held, overlapping, replaced] = [
    await api.createKey(owner),
    await api.createKey(owner),
    await api.createKey(owner),
  ];
  const present = await rotate(admin.client, held.id, 0);
  const previous = await rotate(admin.client, overlapping.id, 0);
  await rotate(owner.client, overlapping.id, 3600);
  await rotate(admin.client, replaced.id, 0);
  const again = await rotate(owner.client, replaced.id, 0);
  expect(await present.call(whoAmI)).toMatchObject({ projectId: admin.projectId });
  await removeBy(owner, admin.userId);
  for (const client of [present, previous])
    await vi.waitFor(
      async () =>
        expect(await refusal(client.call(whoAmI))).toMatchObject({
          status: 401,
          code: "api_key_revoked",
        }),
      20_000,
    );
  expect(await again.call(whoAmI)).toMatchObject({ projectId: admin.projectId });
});

test("an owner who becomes admin keeps API keys and invitations, except invitations of owners", async () => {
  const owner = await api.signIn();
  const second = await member(owner, "owner");
  const made = await api.createKey({ ...second.session, client: second.client });
  const guests = [];
  for (const role of ["owner", "viewer"] as const) {
    const guest = await api.signIn();
    const email = await api.verifiedEmail(guest);
    await invite({ ...second.session, client: second.client }, email, role);
    guests.push({ guest, token: await mailedToken(email) });
  }
  await changeRole(owner, second.userId, "admin");
  const accepts = guests.map(({ guest, token }) =>
    refusal(guest.client.call(acceptInvitation, { body: { token } })),
  );
  const [asOwner, asViewer] = await Promise.all(accepts);
  expect(asOwner).toMatchObject({ status: 409, code: "invalid_state" });
  expect(asViewer).toBe("ok");
  expect(await made.client.call(whoAmI)).toMatchObject({ projectId: second.projectId });
});

test("a member of another project is not found, and another project's id is not renamed", async () => {
  const [owner, eve] = [await api.signIn(), await api.signIn()];
  const { userId, projectId } = await member(owner, "viewer");
  const unknown = "usr_0198c2b4-0000-7000-8000-000000000000";
  for (const id of [userId, unknown]) {
    expect(
      await refusal(eve.client.call(removeMember, { params: { id }, body: {} })),
    ).toMatchObject({ status: 404 });
    const change = eve.client.call(updateMember, { params: { id }, body: { role: "viewer" } });
    expect(await refusal(change)).toMatchObject({ status: 404, code: "not_found" });
  }
  const rename = eve.client.call(updateProject, {
    params: { id: projectId },
    body: { name: "Eve's" },
  });
  expect(await refusal(rename)).toMatchObject({ status: 404 });
});

test("a person makes a second project with a treasury of its own, renames it, and works in either", async () => {
  const person = await api.signIn();
  const { id, name } = await person.client.call(createProject, { body: { name: " Shop " } });
  expect(name).toBe("Shop");
  const there = inProject(person, id);
  const [first, second] = [
    await person.client.call(listWallets),
    await there.call(listWallets),
  ];
  expect(second.data.map(({ kind }) => kind)).toEqual(["treasury"]);
  expect(second.data[0]?.address).not.toBe(first.data[0]?.address);
  await there.call(updateProject, { params: { id }, body: { name: "Corner shop" } });
  const { projects } = await person.client.call(getMe);
  expect(projects.map((each) => [each.name, each.role])).toEqual([
    ["My project", "owner"],
    ["Corner shop", "owner"],
  ]);
});

test("a display name stands beside what is proven, is no address, and can be removed", async () => {
  const person = await api.signIn();
  const named = await person.client.call(updateMe, { body: { name: "  Ada Lovelace " } });
  expect(named).toMatchObject({ name: "Ada Lovelace", verification: null });
  const { data } = await person.client.call(listMembers, {});
  expect(data[0]).toMatchObject({
    name: "Ada Lovelace",
    email: null,
    address: person.account.address,
  });
  const id = await projectOf(person);
  await person.client.call(updateProject, { params: { id }, body: { name: "Analytical" } });
  const entries = await person.client.call(listAuditLog, {});
  expect(entries.data[0]?.actorName).toBe(`Ada Lovelace (${person.account.address})`);
  for (const name of [
    "ada@example.com",
    "ada＠example.com",
    "https://example.com",
    "",
    "a".repeat(81),
  ])
    expect(await refusal(person.client.call(updateMe, { body: { name } })), name).toMatchObject(
      { status: 400 },
    );
  expect(await refusal(person.client.call(updateMe, { body: {} }))).toMatchObject({
    status: 400,
  });
  const removed = await person.client.call(updateMe, { body: { name: null } });
  expect(removed.name).toBeNull();
});
