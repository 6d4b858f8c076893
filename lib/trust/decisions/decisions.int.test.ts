import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  approveDecision,
  getDecision,
  listDecisions,
  requestDecisionCode,
} from "@/lib/contracts/decisions";
import type { Actor } from "@/lib/core/actor";
import { createActorNames } from "@/lib/news/audit/service";
import { createPeople } from "@/lib/trust/auth/people";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import { eventTypesOf } from "@/lib/dev/testing/project-events";
import {
  actorOf,
  newMember,
  refusalOf,
  setMemberRole,
  vote,
  voteWithCode,
  type TestMember,
} from "@/lib/dev/testing/voters";
import { createDecisionRunner } from "./runner";
import {
  createDecisionsService,
  type Decided,
  type DecisionSubject,
  type Requirement,
} from "./service";

const api = await testApi({ devnet: false });
const { services } = api;
const { database, otp, approvals, mailOutbox: outbox } = services;
const clock = { now: () => new Date(Date.now() + clock.aheadMs), aheadMs: 0 };

const settled: Decided[] = [];
const handlers: Readonly<Record<string, DecisionSubject>> = {
  test: {
    onDecided: (decided) => {
      settled.push(decided);
      return Promise.resolve();
    },
  },
};
const people = createPeople({ database });
const deps = {
  database,
  otp,
  approvals,
  people,
  actorNames: createActorNames({ database }),
  outbox,
  wantMail: (_projectId: string, userIds: readonly string[]) =>
    Promise.resolve(new Set(userIds)),
  subjects: () => handlers,
  publicUrl: "http://localhost:3000",
  clock,
};
/** Two instances over one database. */
const [one, other] = [createDecisionsService(deps), createDecisionsService(deps)];
const runner = createDecisionRunner(deps);

let owner: TestSession;
let maker: Actor;
let projectId = "";
let admins: TestMember[];
let operator: TestMember;
beforeAll(async () => {
  owner = await api.signIn();
  const me = await owner.client.call(getMe);
  projectId = me.projects[0]?.id ?? "";
  maker = actorOf(me.id, projectId, "owner");
  admins = [await newMember(api, projectId, "admin"), await newMember(api, projectId, "admin")];
  operator = await newMember(api, projectId, "operator");
});

const TWO: Requirement = { count: 2, roles: ["owner", "admin"], excludeMaker: true };
const DAY_MS = 24 * 3_600_000;
let count = 0;
const open = async (
  required: Requirement = TWO,
  by: Actor = maker,
): Promise<{ id: string; subjectId: string }> => {
  count += 1;
  const subjectId = `thing_${String(count)}`;
  const digest = new Uint8Array(createHash("sha256").update(subjectId).digest());
  const about = {
    projectId,
    subject: { type: "test", id: subjectId },
    digest,
    title: "Pay 1 USDC",
    lines: ["To: Eve"],
  };
  const expiresAt = new Date(Date.now() + DAY_MS);
  const id = await database.transaction((tx) =>
    one.open(tx, { ...about, maker: by, required, expiresAt }),
  );
  return { id, subjectId };
};
const jobsOf = async (id: string): Promise<string[]> => {
  const jobs = await database.prisma.job.findMany({
    where: { id: { startsWith: `${projectId}/${id}/` } },
  });
  return jobs.map(({ queue }) => queue).sort();
};
const settle = (id: string) => runner.settle(`${projectId}/${id}/decided`);
const outcomesOf = (subjectId: string) =>
  settled.filter(({ id }) => id === subjectId).map(({ outcome }) => outcome);
const [first, second] = [() => admins[0] as TestMember, () => admins[1] as TestMember];

describe("votes", () => {
  test("the last vote that is needed approves, and the job of the same transaction carries the object on once", async () => {
    const { id, subjectId } = await open();
    expect(await voteWithCode(api, first(), id)).toMatchObject({
      state: "open",
      mayDecide: false,
    });
    expect(await jobsOf(id)).toEqual(["decision"]);
    expect(await vote(second(), id)).toMatchObject({ state: "approved", messages: null });
    expect(await jobsOf(id)).toEqual(["decided", "decision"]);
    for (let turn = 0; turn < 3; turn += 1) expect(await settle(id)).toEqual({ done: true });
    expect(outcomesOf(subjectId)).toEqual(["approved"]);
    expect(settled.at(-1)?.decidedBy).toMatchObject({ userId: second().userId, projectId });
    expect(await eventTypesOf(database, id)).toEqual([
      "approval.requested",
      "approval.approved",
    ]);
    const digest = new Uint8Array(createHash("sha256").update(subjectId).digest());
    const subject = { type: "test", id: subjectId };
    expect(await one.isApproved(projectId, subject, digest)).toBe(true);
    expect(await one.isApproved(projectId, subject, new Uint8Array(32))).toBe(false);
    expect(await one.isApproved("prj_other", subject, digest)).toBe(false);
  });

  test("the maker does not decide, nor does the maker of the key that asked, nor another user with the maker's mailbox", async () => {
    const createdBy = maker.type === "user" ? maker.userId : "";
    const policy = { otp: "required", dailyCapUsd: null, recipients: [] } as const;
    const key: Actor = {
      type: "apiKey",
      keyId: "key_1",
      projectId,
      createdBy,
      scopes: [],
      policy,
    };
    const email = await api.verifiedEmail(owner);
    const twin = await newMember(api, projectId, "admin");
    // A different spelling of the same mailbox is the same person.
    await database.prisma.user.update({
      where: { id: twin.userId },
      data: { email: email.replace("@", "+2@") },
    });
    for (const by of [maker, key]) {
      const { id } = await open(TWO, by);
      const signature = await owner.account.signMessage({ message: "anything" });
      for (const { client } of [owner, twin]) {
        expect((await client.call(getDecision, { params: { id } })).mayDecide).toBe(false);
        const refused = await refusalOf(
          client.call(approveDecision, { params: { id }, body: { signature } }),
        );
        expect(refused).toMatchObject({ status: 403, code: "forbidden" });
        expect(refused.message).toContain("You asked for this yourself");
      }
    }
    const { id } = await open({ ...TWO, count: 1, excludeMaker: false });
    expect(await vote({ client: owner.client, session: owner }, id)).toMatchObject({
      state: "approved",
    });
  });

  test("a person votes once, and two users with one mailbox count once", async () => {
    const { id } = await open();
    await vote(first(), id);
    const again = await refusalOf(vote(first(), id));
    expect(again).toMatchObject({ status: 409, code: "invalid_state" });
    const twin = await newMember(api, projectId, "admin");
    await database.prisma.user.update({
      where: { id: twin.userId },
      data: { email: first().email.replace("@", "+3@") },
    });
    expect(await vote(twin, id)).toMatchObject({ state: "open" });
    expect(await vote(second(), id)).toMatchObject({ state: "approved" });
  });
});

describe("the end of a request", () => {
  test("one vote to decline ends the request, and nobody votes any more", async () => {
    const { id, subjectId } = await open();
    await vote(first(), id);
    expect(await vote(second(), id, "decline")).toMatchObject({ state: "declined" });
    await settle(id);
    expect(outcomesOf(subjectId)).toEqual(["declined"]);
    expect(await refusalOf(voteAnyhow(operator, id))).toMatchObject({
      status: 409,
      code: "invalid_state",
    });
    expect(await eventTypesOf(database, id)).toEqual([
      "approval.requested",
      "approval.declined",
    ]);
  });

  test("a vote counts by the role that its voter has when the votes are counted", async () => {
    const { id } = await open();
    const [removed, demoted] = [
      await newMember(api, projectId, "admin"),
      await newMember(api, projectId, "owner"),
    ];
    await vote(removed, id);
    await setMemberRole(api, removed.actor, null);
    expect(await vote(demoted, id)).toMatchObject({ state: "open" });
    await setMemberRole(api, demoted.actor, "operator");
    expect(await vote(first(), id)).toMatchObject({ state: "open" });
    expect(await vote(second(), id)).toMatchObject({ state: "approved" });
  });

  test("the last two votes at once on two instances approve once", async () => {
    const third = await newMember(api, projectId, "admin");
    for (let round = 0; round < 5; round += 1) {
      const { id, subjectId } = await open();
      const cast = async (at: typeof one, voter: TestMember) => {
        const { messages } = await at.get(voter.actor, id);
        const signature = await voter.session.account.signMessage({
          message: messages?.approve ?? "",
        });
        return at.decide(voter.actor, id, { decision: "approve", signature });
      };
      await vote(third, id);
      const ended = await Promise.allSettled([cast(one, first()), cast(other, second())]);
      expect(
        ended.filter(({ status }) => status === "fulfilled").length,
      ).toBeGreaterThanOrEqual(1);
      expect(await jobsOf(id)).toEqual(["decided", "decision"]);
      await Promise.all([settle(id), settle(id)]);
      expect(new Set(outcomesOf(subjectId))).toEqual(new Set(["approved"]));
      expect(
        (await eventTypesOf(database, id)).filter((type) => type === "approval.approved"),
      ).toHaveLength(1);
    }
  });
});

const voteAnyhow = async ({ client, session }: TestMember, id: string) =>
  client.call(approveDecision, {
    params: { id },
    body: { signature: await session.account.signMessage({ message: "anything" }) },
  });

describe("jobs", () => {
  test("a continuation that fails, or a worker that dies before it, leaves the job, and the next turn carries on", async () => {
    const { id, subjectId } = await open({ ...TWO, count: 1 });
    await vote(first(), id);
    const broken: DecisionSubject = { onDecided: () => Promise.reject(new Error("killed")) };
    const dying = createDecisionRunner({ ...deps, subjects: () => ({ test: broken }) });
    await expect(dying.settle(`${projectId}/${id}/decided`)).rejects.toThrow("killed");
    expect(outcomesOf(subjectId)).toEqual([]);
    expect(await jobsOf(id)).toEqual(["decided", "decision"]);
    await settle(id);
    await settle(id);
    expect(outcomesOf(subjectId)).toEqual(["approved"]);
  });

  test("those who may decide are mailed once for a request, and nobody else is", async () => {
    const { id } = await open();
    const turns = [
      runner.run(`${projectId}/${id}/decision`),
      runner.run(`${projectId}/${id}/decision`),
    ];
    expect(await Promise.all(turns)).toEqual([
      expect.objectContaining({ done: false }),
      expect.objectContaining({ done: false }),
    ]);
    const mails = await database.prisma.mailOutbox.findMany({
      where: { projectId, text: { contains: "Pay 1 USDC" } },
    });
    const mailed = mails.map(({ to }) => to);
    for (const { email } of admins) expect(mailed.filter((to) => to === email)).toHaveLength(1);
    expect(mailed).not.toContain(operator.email);
    expect(mails[0]?.text).toContain("http://localhost:3000/inbox");
  });

  test("a request that nobody decides expires, and its object is ended", async () => {
    const { id, subjectId } = await open();
    await vote(first(), id);
    clock.aheadMs = DAY_MS;
    try {
      expect(await runner.run(`${projectId}/${id}/decision`)).toEqual({ done: true });
      const late = await refusalOf(voteAnyhow(second(), id));
      expect(late).toMatchObject({ status: 409, code: "invalid_state" });
    } finally {
      clock.aheadMs = 0;
    }
    await settle(id);
    expect(outcomesOf(subjectId)).toEqual(["expired"]);
    expect(settled.at(-1)?.decidedBy).toBeNull();
    expect(await eventTypesOf(database, id)).toEqual([
      "approval.requested",
      "approval.expired",
    ]);
  });
});

describe("authority", () => {
  test("a viewer, and a role that the request does not name, are refused", async () => {
    const { id } = await open();
    const viewer = await newMember(api, projectId, "viewer");
    for (const member of [viewer, operator]) {
      expect((await member.client.call(getDecision, { params: { id } })).mayDecide).toBe(false);
      expect(await refusalOf(voteAnyhow(member, id))).toMatchObject({
        status: 403,
        code: "forbidden",
      });
      const code = member.client.call(requestDecisionCode, { params: { id } });
      expect(await refusalOf(code)).toMatchObject({ status: 403 });
    }
  });

  test("a request of another project is answered as one that does not exist", async () => {
    const { id } = await open();
    const stranger = await api.signIn();
    const headers = {
      authorization: `Bearer ${stranger.accessToken}`,
      "content-type": "application/json",
    };
    const answerTo = async (path: string, method: string) => {
      const body = method === "POST" ? { body: JSON.stringify({ otp: "000000" }) } : {};
      const response = await api.fetch(path, { method, headers, ...body });
      return [response.status, (await response.text()).replace(/"requestId":"[^"]*"/, "")];
    };
    const none = `dec_${id.slice(4, -1)}${id.endsWith("0") ? "1" : "0"}`;
    for (const [path, method] of [
      ["", "GET"] as const,
      ["/approve", "POST"] as const,
      ["/decline", "POST"] as const,
    ]) {
      const foreign = await answerTo(`/approvals/${id}${path}`, method);
      expect(foreign[0]).toBe(404);
      expect(foreign).toEqual(await answerTo(`/approvals/${none}${path}`, method));
    }
    expect((await stranger.client.call(listDecisions, { query: {} })).data).toEqual([]);
  });

  test("a code of another request, and a signature of the other decision, prove nothing", async () => {
    const [{ id }, another] = [await open(), await open()];
    await first().client.call(requestDecisionCode, { params: { id: another.id } });
    const otpOfAnother = await api.readCode(first().email);
    const withOther = first().client.call(approveDecision, {
      params: { id },
      body: { otp: otpOfAnother },
    });
    expect(await refusalOf(withOther)).toMatchObject({ status: 409, code: "otp_required" });
    const { messages } = await first().client.call(getDecision, { params: { id } });
    const signature = await first().session.account.signMessage({
      message: messages?.decline ?? "",
    });
    const swapped = await refusalOf(
      first().client.call(approveDecision, { params: { id }, body: { signature } }),
    );
    expect(swapped).toMatchObject({ code: "invalid_signature" });
    expect((await first().client.call(getDecision, { params: { id } })).votes).toEqual([]);
  });

  test("a list is filtered and read page by page, and an open request about the same object is opened once", async () => {
    const { client } = first();
    const page = await client.call(listDecisions, { query: { state: "open", limit: 2 } });
    expect(page.data).toHaveLength(2);
    const next = await client.call(listDecisions, {
      query: { state: "open", limit: 2, cursor: page.nextCursor ?? "" },
    });
    expect(next.data.map(({ id }) => id)).not.toContain(page.data[1]?.id);
    const subject = { type: "test", id: "thing_once" };
    const about = {
      projectId,
      subject,
      digest: new Uint8Array(32),
      title: "t",
      lines: [],
      maker,
      required: TWO,
    };
    const input = { ...about, expiresAt: new Date(Date.now() + DAY_MS) };
    const ids = await Promise.all(
      [1, 2, 3].map(() => database.transaction((tx) => one.open(tx, input))),
    );
    expect(new Set(ids).size).toBe(1);
    const changed = { ...input, digest: new Uint8Array(32).fill(1) };
    const second = database.transaction((tx) => one.open(tx, changed));
    await expect(second).rejects.toMatchObject({ code: "invalid_state" });
    const { data } = await client.call(listDecisions, { query: { subjectId: subject.id } });
    expect(data.map(({ id }) => id)).toEqual([ids[0]]);
  });
});
