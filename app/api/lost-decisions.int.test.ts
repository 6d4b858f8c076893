/**
 * Decisions whose answer was lost: the person who made one finds it; nobody else does, and no other
 * decision counts as it.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { approveDecision, declineDecision, getDecision } from "@/lib/contracts/decisions";
import { approvePayout } from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { codesOf, type Customer } from "@/lib/dev/testing/journey";
import { forgetIn } from "@/lib/dev/testing/lost-answers";
import { idOf, newPayer, pay, row, someone } from "@/lib/dev/testing/payout-requests";
import {
  demandVotes,
  newMember,
  refusalOf,
  requestAbout,
  type TestMember,
} from "@/lib/dev/testing/voters";

const api = await testApi();
const forget = forgetIn(api.services.database);

let payer: Customer;
let colleague: TestMember;

beforeAll(async () => {
  ({ customer: payer } = await newPayer(api, "100"));
  const projectId = (await payer.session.client.call(getMe)).projects[0]?.id ?? "";
  colleague = await newMember(api, projectId, "admin");
}, 180_000);

const entriesOf = (subject: string, action: string) =>
  api.services.database.prisma.auditEvent.count({ where: { subject, action } });

test("an approval by code whose answer was lost is found again by the person who gave it alone", async () => {
  const { client } = payer.session;
  const id = idOf(await pay(client, [row(someone())]));
  const seen = await codesOf(api, payer);
  await client.call(requestOtp, { body: { payoutId: id } });
  const body = { otp: await api.readCode(payer.email, seen) };
  const idempotencyKey = randomUUID();
  const request = { params: { id }, body, idempotencyKey };
  const first = await client.call(approvePayout, request);
  await forget(idempotencyKey);

  expect(await client.call(approvePayout, request)).toMatchObject({
    id,
    createdAt: first.createdAt,
  });
  expect(await entriesOf(id, "payout.approved")).toBe(1);
  const others = refusalOf(
    colleague.client.call(approvePayout, { ...request, idempotencyKey: randomUUID() }),
  );
  expect(await others).toMatchObject({ status: 409, code: "invalid_state" });
  // Without a key a caller does not ask for what was done before.
  expect(await refusalOf(client.call(approvePayout, { params: { id }, body }))).toMatchObject({
    code: "invalid_state",
  });
});

test("a vote whose answer was lost is found again, and does not count as the opposite vote", async () => {
  const { customer: maker } = await newPayer(api, "100");
  const projectId = (await maker.session.client.call(getMe)).projects[0]?.id ?? "";
  const voter = await newMember(api, projectId, "admin");
  await newMember(api, projectId, "admin");
  await demandVotes(maker.session.client, { count: 2, roles: ["owner", "admin"] });
  const payoutId = idOf(await pay(maker.session.client, [row(someone())]));
  const { id } = await requestAbout(maker.session.client, payoutId);
  const { messages } = await voter.client.call(getDecision, { params: { id } });
  const sign = (decision: "approve" | "decline") =>
    voter.session.account.signMessage({ message: messages?.[decision] ?? "nothing to sign" });
  const idempotencyKey = randomUUID();
  const request = {
    params: { id },
    body: { signature: await sign("approve") },
    idempotencyKey,
  };
  await voter.client.call(approveDecision, request);
  await forget(idempotencyKey);

  expect(await voter.client.call(approveDecision, request)).toMatchObject({
    id,
    state: "open",
  });
  expect(await entriesOf(id, "approval.voted")).toBe(1);
  const opposite = {
    params: { id },
    body: { signature: await sign("decline") },
    idempotencyKey: randomUUID(),
  };
  expect(await refusalOf(voter.client.call(declineDecision, opposite))).toMatchObject({
    code: "invalid_state",
  });
});
