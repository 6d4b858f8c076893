/**
 * No change of a vote rule, a member, an address or a key may leave fewer people who can vote than
 * must.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { createApiKey, rotateApiKey } from "@/lib/contracts/api-keys";
import { getMe, updateMe, verifyEmail } from "@/lib/contracts/auth";
import { removeMember } from "@/lib/contracts/members";
import { testApi, type TestApi, type TestSession } from "@/lib/dev/testing/api";
import { sendEmailCode, withApproval } from "@/lib/dev/testing/approve";
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
  readonly members: readonly TestMember[];
}

/** A project of an owner, and one admin for each more of the people. */
const world = async (people: number): Promise<World> => {
  const owner = await api.signIn();
  const email = await api.verifiedEmail(owner);
  const projectId = (await owner.client.call(getMe)).projects[0]?.id ?? "";
  const members = [];
  for (let person = 1; person < people; person += 1)
    members.push(await newMember(api, projectId, "admin"));
  return { owner, email, projectId, members };
};

const prisma = () => api.services.database.prisma;

/** As a minute later, and as if the person had asked for no code before. */
const forgetCodes = async (): Promise<void> => {
  await prisma().emailCode.updateMany({ data: { createdAt: new Date(Date.now() - 61_000) } });
  await prisma().codeLimit.deleteMany();
};

/** Has the member verify an address. */
const verify = async (
  { session }: Pick<TestMember, "session">,
  email: string,
): Promise<void> => {
  await forgetCodes();
  await sendEmailCode(session.account, session.client, email);
  await session.client.call(verifyEmail, { body: { code: await api.readCode(email) } });
};

const spellingOf = (email: string, tag: string): string => email.replace("@", `+${tag}@`);

const rotate = ({ client, session }: Pick<TestMember, "client" | "session">, id: string) =>
  withApproval(session.account, (approval) =>
    client.call(rotateApiKey, {
      params: { id },
      body: { overlapSeconds: 0, ...(approval ? { approval } : {}) },
    }),
  );

const asRow = ({
  email,
  emailVerifiedAt,
}: {
  email: string | null;
  emailVerifiedAt: Date | null;
}) => ({
  email,
  isVerified: emailVerifiedAt !== null,
});
const emailOf = async ({ userId }: TestMember) =>
  asRow(await prisma().user.findUniqueOrThrow({ where: { id: userId } }));

const settingOf = async ({ projectId }: World) => {
  const { approvalsCount } = await prisma().project.findUniqueOrThrow({
    where: { id: projectId },
  });
  return { approvalsCount, policies: await prisma().policy.count({ where: { projectId } }) };
};

const votes = (count: number, excludeMaker: boolean): Votes => ({
  count,
  roles: ["owner", "admin"],
  excludeMaker,
});
const NOTHING = { approvalsCount: 0, policies: 0 };

describe.each(VOTE_PLACES)("%s", (_place, demand) => {
  test("demands as many votes as people could give, and not one more; the person who asks gives none", async () => {
    const it = await world(3);
    for (const [most, excludeMaker] of [[3, false] as const, [2, true] as const]) {
      const before = await settingOf(it);
      const refused = await refusalOf(demand(it, votes(most + 1, excludeMaker)));
      expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
      expect(refused.details.map(({ path }) => path.split(".").slice(-2).join("."))).toEqual([
        "approvals.count",
      ]);
      expect(refused.message).toContain("only 3 people could vote");
      if (excludeMaker)
        expect(refused.message).toContain("only 2 people where one of them asks");
      expect(await settingOf(it)).toEqual(before);
      await demand(it, votes(most, excludeMaker));
    }
  });

  test("counts users of one mailbox once, and viewers not at all", async () => {
    const it = await world(2);
    const [member] = it.members;
    if (member === undefined) throw new Error("There is no member.");
    await newMember(api, it.projectId, "viewer");
    await verify(member, spellingOf(it.email, "2"));
    const refused = await refusalOf(demand(it, votes(2, false)));
    expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
    expect(refused.message).toContain("only 1 person could vote");
    expect(await settingOf(it)).toEqual(NOTHING);
  });

  test("lets nobody verify the mailbox of another member where too few people could vote then", async () => {
    const it = await world(3);
    const [first, second] = it.members;
    if (first === undefined || second === undefined) throw new Error("There are two members.");
    const name = await demand(it, votes(2, false));
    const before = await emailOf(second);
    await verify(first, spellingOf(it.email, "2"));
    await forgetCodes();
    const mails = (await api.services.inbox?.list({ limit: 100 }))?.length;
    const taken = spellingOf(it.email, "3");
    const refused = await refusalOf(
      second.session.client.call(updateMe, { body: { email: taken } }),
    );
    expect(refused).toMatchObject({ status: 409, code: "invalid_state" });
    for (const part of ["only 1 person could vote", name, it.projectId])
      expect(refused.message).toContain(part);
    expect((await api.services.inbox?.list({ limit: 100 }))?.length).toBe(mails);
    expect(await emailOf(second)).toEqual(before);
  });
});

test("an address whose code was mailed before the rule was made is refused when it is verified", async () => {
  const it = await world(2);
  const [member] = it.members;
  if (member === undefined) throw new Error("There is no member.");
  const [[, demand] = []] = VOTE_PLACES;
  const [before, taken] = [await emailOf(member), spellingOf(it.email, "2")];
  await forgetCodes();
  await sendEmailCode(member.session.account, member.session.client, taken);
  await demand?.(it, votes(2, false));
  const body = { code: await api.readCode(taken) };
  const refused = await refusalOf(member.session.client.call(verifyEmail, { body }));
  expect(refused).toMatchObject({ status: 409, code: "invalid_state" });
  expect(await emailOf(member)).toEqual(before);
});

test("of two members who verify one mailbox at once, one stays another person", async () => {
  const it = await world(3);
  const [[, demand] = []] = VOTE_PLACES;
  await forgetCodes();
  const spelled = it.members.map((member, index) => ({
    member,
    email: spellingOf(it.email, String(index)),
  }));
  for (const { member, email } of spelled)
    await sendEmailCode(member.session.account, member.session.client, email);
  await demand?.(it, votes(2, false));
  const codes = await Promise.all(spelled.map(({ email }) => api.readCode(email)));
  const done = await Promise.allSettled(
    spelled.map(({ member }, index) =>
      member.session.client.call(verifyEmail, { body: { code: codes[index] ?? "" } }),
    ),
  );
  expect(done.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a rotation by which nobody could vote any more on what the key asks for is refused", async () => {
  const it = await world(2);
  const [member] = it.members;
  if (member === undefined) throw new Error("There is no member.");
  const [[, demand] = []] = VOTE_PLACES;
  await demand?.(it, votes(1, true));
  const { id } = await it.owner.client.call(createApiKey, { body: { name: "CI" } });
  const keyOf = () =>
    prisma().apiKey.findUniqueOrThrow({
      where: { id },
      select: { rotatedBy: true, version: true },
    });
  const before = await keyOf();
  const refused = await refusalOf(rotate(member, id));
  expect(refused).toMatchObject({ status: 409, code: "invalid_state" });
  expect(refused.message).toContain(`nobody where the API key ${id} asks`);
  expect(await keyOf()).toEqual(before);
  await rotate({ client: it.owner.client, session: it.owner }, id);
  expect((await keyOf()).rotatedBy).toHaveLength(1);
});

test("a key that two people have holds up a rule that only these two could meet, until it is revoked", async () => {
  const it = await world(2);
  const [member] = it.members;
  if (member === undefined) throw new Error("There is no member.");
  const [[, demand] = []] = VOTE_PLACES;
  const { id } = await it.owner.client.call(createApiKey, { body: { name: "CI" } });
  await rotate(member, id);
  const refused = await refusalOf(demand?.(it, votes(1, true)) ?? Promise.resolve());
  expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
  expect(refused.message).toContain(id);
  expect(await settingOf(it)).toEqual(NOTHING);
  await prisma().apiKey.update({ where: { id }, data: { revokedAt: new Date() } });
  await demand?.(it, votes(1, true));
  expect(await settingOf(it)).toEqual({ approvalsCount: 1, policies: 0 });
});

test("rules that no role could meet together are refused, each by itself being fine", async () => {
  const it = await world(3);
  const [[, bySetting] = [], [, byPolicy] = []] = VOTE_PLACES;
  await newMember(api, it.projectId, "owner");
  await bySetting?.(it, { count: 1, roles: ["owner"], excludeMaker: false });
  const refused = await refusalOf(
    byPolicy?.(it, { count: 1, roles: ["admin"], excludeMaker: false }) ?? Promise.resolve(),
  );
  expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
  expect(refused.message).toContain("the policy of the project and the setting of approvals");
  expect(await settingOf(it)).toEqual({ approvalsCount: 1, policies: 0 });
});

test("a rule and a removal at the same time leave enough people, whichever is first", async () => {
  const it = await world(3);
  const [member] = it.members;
  const [[, demand] = []] = VOTE_PLACES;
  const remove = () =>
    withApproval(it.owner.account, (approval) =>
      it.owner.client.call(removeMember, {
        params: { id: member?.userId ?? "" },
        body: approval ? { approval } : {},
      }),
    );
  const both = await Promise.allSettled([demand?.(it, votes(3, false)), remove()]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const left = await prisma().membership.count({ where: { projectId: it.projectId } });
  expect([await settingOf(it), left]).toEqual(
    left === 3 ? [{ approvalsCount: 3, policies: 0 }, 3] : [NOTHING, 2],
  );
});
