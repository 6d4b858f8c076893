import { beforeAll, describe, expect, test, vi } from "vitest";
import { createApiKey, listApiKeys } from "@/lib/contracts/api-keys";
import { getMe, whoAmI } from "@/lib/contracts/auth";
import {
  createInvitation,
  getMemberRemoval,
  listInvitations,
  removeMember,
  updateMember,
} from "@/lib/contracts/members";
import { createPayoutSchedule, getPayoutSchedule } from "@/lib/contracts/payout-schedules";
import { updatePolicies } from "@/lib/contracts/policies";
import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  updateWebhookEndpoint,
} from "@/lib/contracts/webhook-endpoints";
import type { ApiClient } from "@/lib/api-client/client";
import type { Role } from "@/lib/core/actor";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { VOTE_PLACES, type Votes } from "@/lib/dev/testing/vote-places";
import { newMember, refusalOf, type TestMember } from "@/lib/dev/testing/voters";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({ devnet: false });
});

interface World {
  readonly owner: TestSession;
  readonly email: string;
  readonly projectId: string;
  readonly ownerId: string;
}

const world = async (): Promise<World> => {
  const owner = await api.signIn();
  const email = await api.verifiedEmail(owner);
  const me = await owner.client.call(getMe);
  return { owner, email, ownerId: me.id, projectId: me.projects[0]?.id ?? "" };
};

const roleOf = async (projectId: string, userId: string): Promise<string | null> => {
  const where = { projectId_userId: { projectId, userId } };
  return (await api.services.database.prisma.membership.findUnique({ where }))?.role ?? null;
};

interface By {
  readonly client: ApiClient;
  readonly session: TestSession;
}
const ownerOf = ({ owner }: World): By => ({ client: owner.client, session: owner });

const remove = ({ client, session }: By, userId: string) =>
  withApproval(session.account, (approval) =>
    client.call(removeMember, { params: { id: userId }, body: approval ? { approval } : {} }),
  );
const give = ({ client, session }: By, userId: string, role: Role) =>
  withApproval(session.account, (approval) =>
    client.call(updateMember, {
      params: { id: userId },
      body: { role, ...(approval ? { approval } : {}) },
    }),
  );
const mailsTo = async (projectId: string, to: string): Promise<string[]> => {
  const mails = await api.services.database.prisma.mailOutbox.findMany({
    where: { projectId, to },
  });
  return mails.map(({ subject }) => subject);
};

describe("a bearer token alone", () => {
  test.each(["owner", "admin"] as const)(
    "neither removes nor demotes an %s, and lets none leave",
    async (role) => {
      const it = await world();
      const member = await newMember(api, it.projectId, role);
      const params = { id: member.userId };
      const attempts = [
        () => it.owner.client.call(removeMember, { params, body: {} }),
        () => it.owner.client.call(updateMember, { params, body: { role: "viewer" } }),
        () => member.client.call(removeMember, { params, body: {} }),
      ];
      for (const attempt of attempts)
        expect(await refusalOf(attempt())).toMatchObject({
          status: 409,
          code: "approval_required",
        });
      expect(await roleOf(it.projectId, member.userId)).toBe(role);
      expect(await mailsTo(it.projectId, member.email)).toEqual([]);
    },
  );

  test("the owners and the person are mailed about a lower role and about a removal", async () => {
    const it = await world();
    const member = await newMember(api, it.projectId, "owner");
    await give(ownerOf(it), member.userId, "operator");
    await remove(ownerOf(it), member.userId);
    const subjects = [
      "A member of a project may do less",
      "A member was removed from a project",
    ];
    expect(await mailsTo(it.projectId, it.email)).toEqual(expect.arrayContaining(subjects));
    expect((await mailsTo(it.projectId, member.email)).sort()).toEqual([...subjects].sort());
  });

  test("a member who goes on making keys cannot keep an approved removal from happening, and the new key stops too", async () => {
    const it = await world();
    const member = await newMember(api, it.projectId, "admin");
    const params = { id: member.userId };
    let secret = "";
    await withApproval(it.owner.account, async (approval) => {
      if (approval !== undefined)
        ({ secret } = await member.client.call(createApiKey, { body: { name: "Late" } }));
      return it.owner.client.call(removeMember, { params, body: approval ? { approval } : {} });
    });
    expect(await roleOf(it.projectId, member.userId)).toBeNull();
    const late = api.client({ "x-api-key": secret }).call(whoAmI);
    expect(await refusalOf(late)).toMatchObject({ status: 401, code: "api_key_revoked" });
  });
});

const TWO: Votes = { count: 2, roles: ["owner", "admin"], excludeMaker: false };

/** Every way in which a person may stop to vote. */
const WAYS: readonly (readonly [
  string,
  (it: World, member: TestMember) => Promise<unknown>,
])[] = [
  ["a removal", (it, { userId }) => remove(ownerOf(it), userId)],
  ["a demotion", (it, { userId }) => give(ownerOf(it), userId, "operator")],
  ["leaving", (_, member) => remove(member, member.userId)],
];

describe.each(VOTE_PLACES)("where %s demands two votes", (_place, demand) => {
  test.each(WAYS)(
    "%s that would leave one person to vote is refused, and names it",
    async (_way, act) => {
      const it = await world();
      const [member, third] = [
        await newMember(api, it.projectId, "admin"),
        await newMember(api, it.projectId, "admin"),
      ];
      const name = await demand(it, TWO);
      await act(it, third);
      const refusal = await refusalOf(act(it, member));
      expect(refusal).toMatchObject({ status: 409, code: "invalid_state" });
      expect(refusal.message).toContain(name);
      expect(await roleOf(it.projectId, member.userId)).toBe("admin");
    },
  );
});

test("one person more has to stay where the one who asks does not vote", async () => {
  const it = await world();
  const [one, two] = [
    await newMember(api, it.projectId, "admin"),
    await newMember(api, it.projectId, "admin"),
  ];
  const viewer = await newMember(api, it.projectId, "viewer");
  await it.owner.client.call(updatePolicies, {
    body: { approvals: { ...TWO, excludeMaker: true } },
  });
  expect(await refusalOf(remove(ownerOf(it), one.userId))).toMatchObject({
    code: "invalid_state",
  });
  await remove(ownerOf(it), viewer.userId);
  await withApproval(it.owner.account, (approval) =>
    it.owner.client.call(updatePolicies, {
      body: { approvals: { ...TWO, count: 1 }, ...(approval ? { approval } : {}) },
    }),
  );
  await remove(ownerOf(it), one.userId);
  expect(await roleOf(it.projectId, two.userId)).toBe("admin");
});

test("two accounts of one mailbox are one person who stays, also at the limit of two removals at once", async () => {
  const it = await world();
  const { user } = api.services.database.prisma;
  const [member, twin] = [
    await newMember(api, it.projectId, "admin"),
    await newMember(api, it.projectId, "admin"),
  ];
  await user.update({
    where: { id: twin.userId },
    data: { email: it.email.replace("@", "+2@") },
  });
  const refused = await refusalOf(
    it.owner.client.call(updatePolicies, { body: { approvals: { ...TWO, count: 3 } } }),
  );
  expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
  await it.owner.client.call(updatePolicies, { body: { approvals: TWO } });
  expect(await refusalOf(remove(ownerOf(it), member.userId))).toMatchObject({
    code: "invalid_state",
  });
  await user.update({ where: { id: twin.userId }, data: { email: twin.email } });
  const both = await Promise.allSettled([
    remove(ownerOf(it), member.userId),
    remove(ownerOf(it), twin.userId),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

const recipient = testAccount().address;
const startsAt = new Date(Date.now() + 3_600_000).toISOString();
const url = "http://127.0.0.1:9999/hook";

/**
 * A key, an endpoint by hand, one by the key, one by a key that is revoked by now, an invitation
 * and a schedule.
 */
const leave = async (member: TestMember) => {
  const key = await member.client.call(createApiKey, { body: { name: "CI" } });
  const old = await member.client.call(createApiKey, { body: { name: "Old" } });
  const endpoints = [];
  for (const client of [
    member.client,
    api.client({ "x-api-key": key.secret }),
    api.client({ "x-api-key": old.secret }),
  ])
    endpoints.push(
      (await client.call(createWebhookEndpoint, { body: { url, events: ["*"] } })).id,
    );
  await api.services.database.prisma.apiKey.update({
    where: { id: old.id },
    data: { revokedAt: new Date() },
  });
  await withApproval(member.session.account, (approval) =>
    member.client.call(createInvitation, {
      body: { email: "friend@example.test", role: "viewer", ...(approval ? { approval } : {}) },
    }),
  );
  const transfers = [{ address: recipient, amount: "1", token: "USDC" }];
  const schedule = await api.client({ "x-api-key": key.secret }).call(createPayoutSchedule, {
    body: { chainId: 31337, transfers, startsAt, reference: "Rent" },
  });
  return { key, endpoints, scheduleId: schedule.id };
};

describe("what a removed member made", () => {
  test("stops with the removal, which lists it by name before", async () => {
    const it = await world();
    const member = await newMember(api, it.projectId, "admin");
    const kept = await it.owner.client.call(createWebhookEndpoint, {
      body: { url, events: ["*"] },
    });
    const { key, endpoints, scheduleId } = await leave(member);
    const params = { id: member.userId };
    const listed = await it.owner.client.call(getMemberRemoval, { params });
    expect(listed).toMatchObject({
      id: member.userId,
      role: "admin",
      apiKeys: [{ id: key.id, name: "CI", last4: key.last4 }],
      invitations: [{ email: "friend@example.test", role: "viewer" }],
      payoutSchedules: [{ id: scheduleId, reference: "Rent", rows: 1 }],
    });
    expect(listed.webhookEndpoints.map(({ id }) => id).sort()).toEqual([...endpoints].sort());
    const asked = await refusalOf(it.owner.client.call(removeMember, { params, body: {} }));
    for (const named of ["CI", url, "friend@example.test", "Rent"])
      expect(asked.message).toContain(named);

    await remove(ownerOf(it), member.userId);
    await vi.waitFor(
      async () =>
        expect(
          await refusalOf(api.client({ "x-api-key": key.secret }).call(whoAmI)),
        ).toMatchObject({ code: "api_key_revoked" }),
      20_000,
    );
    for (const id of endpoints)
      expect(await it.owner.client.call(getWebhookEndpoint, { params: { id } })).toMatchObject({
        status: "disabled",
        disabledReason: "maker_left",
      });
    expect(
      await it.owner.client.call(getWebhookEndpoint, { params: { id: kept.id } }),
    ).toMatchObject({
      status: "active",
    });
    const invitations = (await it.owner.client.call(listInvitations)).data;
    expect(invitations.map(({ status }) => status)).toEqual(["withdrawn"]);
    const schedule = await it.owner.client.call(getPayoutSchedule, {
      params: { id: scheduleId },
    });
    expect(schedule).toMatchObject({ status: "cancelled" });
    // An owner who knows the URL brings an endpoint back, at the same URL.
    const body = { status: "active" as const };
    const back = await it.owner.client.call(updateWebhookEndpoint, {
      params: { id: endpoints[0] ?? "" },
      body,
    });
    expect(back).toMatchObject({ status: "active", url, disabledReason: null });
  });

  test("stops with a role that could not make it, as far as that role could not", async () => {
    const it = await world();
    const member = await newMember(api, it.projectId, "admin");
    const { endpoints, scheduleId } = await leave(member);
    const params = { id: member.userId };
    const asOperator = await it.owner.client.call(getMemberRemoval, {
      params,
      query: { role: "operator" },
    });
    expect([asOperator.apiKeys.length, asOperator.webhookEndpoints.length]).toEqual([1, 3]);
    expect([asOperator.invitations.length, asOperator.payoutSchedules.length]).toEqual([1, 0]);
    await give(ownerOf(it), member.userId, "operator");
    expect(
      (await it.owner.client.call(listApiKeys)).data.every(
        ({ revokedAt }) => revokedAt !== null,
      ),
    ).toBe(true);
    const [id = ""] = endpoints;
    expect(await it.owner.client.call(getWebhookEndpoint, { params: { id } })).toMatchObject({
      status: "disabled",
    });
    const schedule = () =>
      it.owner.client.call(getPayoutSchedule, { params: { id: scheduleId } });
    expect(await schedule()).toMatchObject({ status: "awaiting_approval" });
    await give(ownerOf(it), member.userId, "viewer");
    expect(await schedule()).toMatchObject({ status: "cancelled" });
  });
});
