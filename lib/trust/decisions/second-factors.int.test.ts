/** Votes on requests that a second factor proves, in place of a mailed code. */
import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import {
  approveDecision,
  approveDecisions,
  declineDecision,
  getDecision,
  requestDecisionCode,
  requestDecisionsCode,
} from "@/lib/contracts/decisions";
import { confirmTotp, startTotp } from "@/lib/contracts/factors";
import { addPasskey, startPasskey } from "@/lib/contracts/passkeys";
import { newId } from "@/lib/core/ids";
import { stepAt, totpCode } from "@/lib/trust/proofs/totp";
import { testApi } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { passkeyDevice } from "@/lib/dev/testing/passkey-device";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import { actorOf, newMember, refusalOf, vote, type TestMember } from "@/lib/dev/testing/voters";

const api = await testApi({ devnet: false });
const { database, decisions, clock } = api.services;
const HOUR_MS = 3_600_000;
const device = passkeyDevice();

let makerId = "";
let projectId = "";
let voter: TestMember;
let appSecret: Uint8Array = new Uint8Array();
/** The time step whose code confirmed the voter's app. */
let confirmedStep = 0;

beforeAll(async () => {
  const owner = await api.signIn();
  const me = await owner.client.call(getMe);
  makerId = me.id;
  projectId = me.projects[0]?.id ?? "";
  voter = await newMember(api, projectId, "admin");
  const { client, session } = voter;
  const { secret } = await withApproval(session.account, (approval) =>
    client.call(startTotp, { body: { approval } }),
  );
  appSecret = fromBase32(secret);
  confirmedStep = stepAt(clock.now());
  await client.call(confirmTotp, { body: { code: totpCode(appSecret, confirmedStep) } });
  const { options } = await withApproval(session.account, (approval) =>
    client.call(startPasskey, { body: { name: "Laptop", approval } }),
  );
  await client.call(addPasskey, { body: { credential: device.create(options.challenge) } });
});

/** Opens a request that one vote of an admin decides. @returns its id */
const open = (): Promise<string> => {
  const subject = { type: "test", id: newId("operation") };
  const digest = new Uint8Array(createHash("sha256").update(subject.id).digest());
  const maker = actorOf(makerId, projectId, "owner");
  const required = { count: 1, roles: ["admin"], excludeMaker: true } as const;
  const expiresAt = new Date(Date.now() + HOUR_MS);
  const about = {
    projectId,
    subject,
    digest,
    title: "Pay 1 USDC",
    lines: ["To: Eve"],
    maker,
    required,
    expiresAt,
  };
  return database.transaction((tx) => decisions.open(tx, about));
};

/** The stored votes on a request, and the means that the audit log names for each of them. */
const votesOn = async (id: string): Promise<unknown> => {
  const votes = await database.prisma.decisionVote.findMany({
    where: { projectId, requestId: id },
  });
  const rows = await database.prisma.auditEvent.findMany({
    where: { subject: id, action: "approval.voted" },
  });
  return {
    stored: votes.map(({ userId, decision, means }) => [userId, decision, means]),
    audited: rows.map(({ data }) => (data as { means?: unknown }).means),
  };
};
const one = (means: string, decision = "approve") => ({
  stored: [[voter.userId, decision, means]],
  audited: [means],
});
const NONE = { stored: [], audited: [] };

const challengeFor = async (id: string): Promise<string> => {
  const asked = await voter.client.call(requestDecisionCode, {
    params: { id },
    query: { channel: "passkey" },
  });
  expect(asked.channel).toBe("passkey");
  return asked.passkey?.challenge ?? "";
};

test("a passkey votes on the request whose challenge it signed, once, and on no other", async () => {
  const [id, other] = [await open(), await open()];
  const approve = (of: string, passkey: ReturnType<typeof device.get>) =>
    voter.client.call(approveDecision, { params: { id: of }, body: { passkey } });

  const forOther = device.get(await challengeFor(other));
  expect(await refusalOf(approve(id, forOther))).toMatchObject({ code: "invalid_signature" });
  expect(await votesOn(id)).toEqual(NONE);

  const own = device.get(await challengeFor(id));
  expect(await approve(id, own)).toMatchObject({ state: "approved" });
  expect(await votesOn(id)).toEqual(one("passkey"));

  expect(await refusalOf(approve(other, own))).toMatchObject({ code: "invalid_signature" });
  expect(await votesOn(other)).toEqual(NONE);
  const passkey = device.get(await challengeFor(other));
  const declined = await voter.client.call(declineDecision, {
    params: { id: other },
    body: { passkey },
  });
  expect(declined).toMatchObject({ state: "declined" });
  expect(await votesOn(other)).toEqual(one("passkey", "decline"));
});

test("a passkey votes on the set whose challenge it signed, once, and on no other", async () => {
  const [a, b, c] = [await open(), await open(), await open()];
  const challengeForSet = async (ids: string[]): Promise<string> => {
    const body = { ids, channel: "passkey" as const };
    const { sent } = await voter.client.call(requestDecisionsCode, { body });
    return sent?.passkey?.challenge ?? "";
  };
  const approve = (ids: string[], passkey: ReturnType<typeof device.get>) =>
    voter.client.call(approveDecisions, { body: { ids, passkey } });
  for (const ids of [[a, c], [a]])
    expect(
      await refusalOf(approve(ids, device.get(await challengeForSet([a, b])))),
    ).toMatchObject({ code: "invalid_signature" });
  for (const id of [a, b, c]) expect(await votesOn(id)).toEqual(NONE);

  const signed = device.get(await challengeForSet([a, b]));
  const { data } = await approve([b, a], signed);
  expect(data.map(({ refusal }) => refusal)).toEqual([null, null]);
  for (const id of [a, b]) expect(await votesOn(id)).toEqual(one("passkey"));
  expect(await refusalOf(approve([c], signed))).toMatchObject({ code: "invalid_signature" });
  expect(await votesOn(c)).toEqual(NONE);
});

test("a code of the authenticator app votes on one request, and not on a second one", async () => {
  const [id, other] = [await open(), await open()];
  const approve = (of: string, totp: string) =>
    voter.client.call(approveDecision, { params: { id: of }, body: { totp } });

  // Each code is good once, and only near its time.
  const nextCode = totpCode(appSecret, Math.max(confirmedStep + 1, stepAt(clock.now())));
  const wrong = nextCode === "000000" ? "000001" : "000000";
  expect(await refusalOf(approve(id, wrong))).toMatchObject({
    status: 422,
    code: "otp_invalid",
  });
  expect(await votesOn(id)).toEqual(NONE);

  expect(await approve(id, nextCode)).toMatchObject({ state: "approved" });
  expect(await votesOn(id)).toEqual(one("totp"));

  expect(await refusalOf(approve(other, nextCode))).toMatchObject({
    status: 422,
    code: "otp_invalid",
  });
  expect(await votesOn(other)).toEqual(NONE);
  expect(await voter.client.call(getDecision, { params: { id: other } })).toMatchObject({
    state: "open",
  });
  // Only the used code was wrong, so the same person may vote by another means.
  expect(await vote(voter, other)).toMatchObject({ state: "approved" });
  expect(await votesOn(other)).toEqual(one("signature"));
});
