/** Votes on several requests with one proof: good for exactly this set, and once. */
import { createHash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  approveDecision,
  approveDecisions,
  getDecision,
  requestDecisionsCode,
} from "@/lib/contracts/decisions";
import type { Actor } from "@/lib/core/actor";
import { DECISIONS_MAX } from "@/lib/core/approval-advice";
import { newId } from "@/lib/core/ids";
import { testApi, type TestSession } from "@/lib/dev/testing/api";
import {
  actorOf,
  newMember,
  refusalOf,
  vote,
  voteWithCode,
  type TestMember,
} from "@/lib/dev/testing/voters";
import type { Requirement } from "./service";

const api = await testApi({ devnet: false });
const { database, decisions, inbox } = api.services;

let owner: TestSession;
let maker: Actor;
let voter: TestMember;
let other: TestMember;
let projectId = "";

beforeAll(async () => {
  owner = await api.signIn();
  const me = await owner.client.call(getMe);
  projectId = me.projects[0]?.id ?? "";
  maker = actorOf(me.id, projectId, "owner");
  voter = await newMember(api, projectId, "admin");
  other = await newMember(api, projectId, "admin");
});

const ONE: Requirement = { count: 1, roles: ["owner", "admin"], excludeMaker: true };
let count = 0;
const open = async (by: Actor = maker, required: Requirement = ONE): Promise<string> => {
  count += 1;
  const subjectId = `set_thing_${String(count)}`;
  return database.transaction((tx) =>
    decisions.open(tx, {
      projectId,
      subject: { type: "test", id: subjectId },
      digest: new Uint8Array(createHash("sha256").update(subjectId).digest()),
      title: `Pay ${String(count)} USDC`,
      lines: [`To: Recipient ${String(count)}`],
      maker: by,
      required,
      expiresAt: new Date(Date.now() + 3_600_000),
    }),
  );
};

const mailedCodes = async (email: string): Promise<string[]> =>
  ((await inbox?.list({ to: email, limit: 100 })) ?? []).flatMap(({ code }) => code ?? []);

/** Asks for a code for the set, and reads it from the mail. */
const codeFor = async ({ client, email }: TestMember, ids: string[]): Promise<string> => {
  const seen = await mailedCodes(email);
  await client.call(requestDecisionsCode, { body: { ids } });
  return api.readCode(email, seen);
};

const signatureFor = async ({ client, session }: TestMember, ids: string[]) => {
  const body = { ids, channel: "wallet" as const };
  const { message, sent } = await client.call(requestDecisionsCode, { body });
  expect(sent).toBeNull();
  return session.account.signMessage({ message });
};

const votesOn = async (id: string): Promise<number> =>
  (await voter.client.call(getDecision, { params: { id } })).votes.length;

describe("a proof for a set", () => {
  test("counts one vote on each request, whatever the order of the ids", async () => {
    const [a, b, c] = [await open(), await open(), await open()];
    const otp = await codeFor(voter, [a, b, c]);
    const { data } = await voter.client.call(approveDecisions, {
      body: { ids: [c, a, b], otp, reason: "Compared with the invoices" },
    });
    expect(data.map(({ decision, refusal }) => [decision.id, decision.state, refusal])).toEqual(
      [
        [c, "approved", null],
        [a, "approved", null],
        [b, "approved", null],
      ],
    );
    const entries = await database.prisma.auditEvent.findMany({
      where: { projectId, action: "approval.voted", subject: { in: [a, b, c] } },
    });
    expect(new Set(entries.map(({ subject }) => subject))).toEqual(new Set([a, b, c]));
    expect(entries.map((entry) => (entry.data as { means?: unknown }).means)).toEqual(
      Array(3).fill("code"),
    );
    expect(await votesOn(a)).toBe(1);
  });

  test.each(["code", "signature"] as const)(
    "a %s for two requests approves neither another pair, nor one of them alone, nor three",
    async (means) => {
      const fresh = await newMember(api, projectId, "admin");
      const [a, b, c] = [await open(), await open(), await open()];
      const proof =
        means === "code"
          ? { otp: await codeFor(fresh, [a, b]) }
          : { signature: await signatureFor(fresh, [a, b]) };
      for (const ids of [[a, c], [a], [a, b, c]])
        expect(
          await refusalOf(fresh.client.call(approveDecisions, { body: { ids, ...proof } })),
        ).toMatchObject({ code: means === "code" ? "otp_required" : "invalid_signature" });
      // The route for one request does not accept the proof of a set either.
      const single = fresh.client.call(approveDecision, { params: { id: a }, body: proof });
      expect(await refusalOf(single)).toMatchObject({
        code: means === "code" ? "otp_required" : "invalid_signature",
      });
      expect([await votesOn(a), await votesOn(b), await votesOn(c)]).toEqual([0, 0, 0]);
      const { data } = await fresh.client.call(approveDecisions, {
        body: { ids: [a, b], ...proof },
      });
      expect(data.every(({ refusal }) => refusal === null)).toBe(true);
    },
  );

  test("is used once: a replay is refused, also for a set that still has an open request", async () => {
    const [a, b] = [await open(maker, { ...ONE, count: 2 }), await open()];
    const otp = await codeFor(voter, [a, b]);
    const body = { ids: [a, b], otp };
    await voter.client.call(approveDecisions, { body });
    expect(await refusalOf(voter.client.call(approveDecisions, { body }))).toMatchObject({
      status: 409,
      code: "invalid_state",
    });
    const signature = await signatureFor(other, [a]);
    const signed = { body: { ids: [a], signature } };
    await other.client.call(approveDecisions, signed);
    expect(await refusalOf(other.client.call(approveDecisions, signed))).toMatchObject({
      code: "invalid_state",
    });
    expect([await votesOn(a), await votesOn(b)]).toEqual([2, 1]);
  });

  test("of another person proves nothing", async () => {
    const ids = [await open(), await open()];
    const otp = await codeFor(voter, ids);
    const signature = await signatureFor(voter, ids);
    for (const proof of [{ otp }, { signature }])
      expect(
        await refusalOf(other.client.call(approveDecisions, { body: { ids, ...proof } })),
      ).toMatchObject({ code: "otp" in proof ? "otp_required" : "invalid_signature" });
  });

  test("used twice at once votes once", async () => {
    for (const means of ["code", "signature"] as const) {
      const fresh = await newMember(api, projectId, "admin");
      const ids = [
        await open(maker, { ...ONE, count: 2 }),
        await open(maker, { ...ONE, count: 2 }),
      ];
      const proof =
        means === "code"
          ? { otp: await codeFor(fresh, ids) }
          : { signature: await signatureFor(fresh, ids) };
      const cast = () => fresh.client.call(approveDecisions, { body: { ids, ...proof } });
      const ended = await Promise.allSettled([cast(), cast()]);
      expect(ended.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
      const counted = ended.flatMap((one) =>
        one.status === "fulfilled"
          ? one.value.data.filter(({ refusal }) => refusal === null)
          : [],
      );
      expect(counted).toHaveLength(2);
      for (const id of ids) expect(await votesOn(id)).toBe(1);
    }
  });
});

describe("who may vote by a set", () => {
  test("the maker gets no code for a set with an own request, and no vote on it by a signature", async () => {
    const [own, foreign] = [await open(voter.actor), await open()];
    const asking = voter.client.call(requestDecisionsCode, { body: { ids: [own, foreign] } });
    expect(await refusalOf(asking)).toMatchObject({ status: 403, code: "forbidden" });
    const signature = await voter.session.account.signMessage({ message: "anything" });
    const voting = voter.client.call(approveDecisions, { body: { ids: [own], signature } });
    expect(await refusalOf(voting)).toMatchObject({ status: 403, code: "forbidden" });
    expect(await votesOn(own)).toBe(0);
  });

  test("a request of another project, and an id that names nothing, get one answer", async () => {
    const stranger = await newMember(api, projectId, "admin");
    const elsewhere = await api.signIn();
    const id = await open();
    const answers = await Promise.all(
      [id, newId("decision")].map(async (named) => {
        const body = { ids: [named] };
        const { status, code, message } = await refusalOf(
          elsewhere.client.call(requestDecisionsCode, { body }),
        );
        return { status, code, message };
      }),
    );
    expect(answers[0]).toMatchObject({ status: 404, code: "not_found" });
    expect(answers[0]).toEqual(answers[1]);
    const mixed = stranger.client.call(requestDecisionsCode, {
      body: { ids: [id, newId("decision")] },
    });
    expect(await refusalOf(mixed)).toMatchObject({ status: 404 });
  });

  test("a set has 50 requests at most, and each once", async () => {
    const id = await open();
    for (const ids of [
      [],
      [id, id],
      Array.from({ length: DECISIONS_MAX + 1 }, () => newId("decision")),
    ])
      expect(
        await refusalOf(voter.client.call(requestDecisionsCode, { body: { ids } })),
      ).toMatchObject({ code: "invalid_request" });
  });
});

describe("a request that ends meanwhile", () => {
  test("is reported, and the others are voted on", async () => {
    const fresh = await newMember(api, projectId, "admin");
    const [a, b, c] = [await open(), await open(), await open()];
    const otp = await codeFor(fresh, [a, b, c]);
    await vote(other, b, "decline");
    await voteWithCode(api, other, c);
    const { data } = await fresh.client.call(approveDecisions, {
      body: { ids: [a, b, c], otp },
    });
    expect(data.map(({ decision, refusal }) => [decision.state, refusal?.code])).toEqual([
      ["approved", undefined],
      ["declined", "invalid_state"],
      ["approved", "invalid_state"],
    ]);
    expect(data[1]?.refusal?.message).toContain("was declined already");
    expect(await votesOn(c)).toBe(1);
  });
});

test("the mail and the signed text list every request with its values and the name of its maker", async () => {
  const fresh = await newMember(api, projectId, "admin");
  const ids = [await open(other.actor), await open(other.actor)];
  const seen = await mailedCodes(fresh.email);
  const { message } = await fresh.client.call(requestDecisionsCode, { body: { ids } });
  await api.readCode(fresh.email, seen);
  const [mail] = (await inbox?.list({ to: fresh.email, limit: 1 })) ?? [];
  for (const text of [message, mail?.text ?? ""]) {
    for (const number of [count - 1, count]) {
      expect(text).toContain(`Pay ${String(number)} USDC`);
      expect(text).toContain(`To: Recipient ${String(number)}`);
    }
    // A mail breaks everything that a mail program could turn into a link.
    expect(text).toContain(`${other.email.split("@")[0] ?? ""}@`);
  }
  expect(mail?.text).not.toContain("usr_");
});
