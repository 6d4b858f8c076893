/** Private operations that wait for votes, and the factors that approve them. */
import { beforeAll, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { SCOPES } from "@/lib/contracts/contract";
import { getDecision, listDecisions } from "@/lib/contracts/decisions";
import { confirmTotp, startTotp } from "@/lib/contracts/factors";
import { approveOperation, cancelOperation, getOperation } from "@/lib/contracts/operations";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { createPrivacyWallet, privateTransfer } from "@/lib/contracts/privacy";
import {
  executePrivateSwap,
  preparePrivateSwap,
  quotePrivateSwap,
} from "@/lib/contracts/privacy-swap";
import { requestOtp } from "@/lib/contracts/swap";
import { updatePolicies } from "@/lib/contracts/policies";
import type { ApiClient } from "@/lib/api-client/client";
import { stepAt, totpCode } from "@/lib/trust/proofs/totp";
import type { TestApiKey, TestSession } from "@/lib/dev/testing/api";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import { putRules } from "@/lib/dev/testing/policies";
import { privateMoney } from "@/lib/dev/testing/private-money";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import {
  demandVotes,
  newMember,
  refusalOf,
  requestAbout,
  vote,
  type TestMember,
} from "@/lib/dev/testing/voters";

const money = await privateMoney();
const { api, chainId, world, services } = money;
const { prisma } = services.database;
const USDC = money.tokenOf("USDC");
const TWO = { count: 2, roles: ["admin" as const, "operator" as const], excludeMaker: true };

let session: TestSession;
let projectId = "";
let walletId = "";
let key: TestApiKey;
let voters: readonly [TestMember, TestMember];

beforeAll(async () => {
  session = await api.signIn();
  await api.verifiedEmail(session);
  projectId = (await session.client.call(getMe)).projects[0]?.id ?? "";
  voters = [
    await newMember(api, projectId, "admin"),
    await newMember(api, projectId, "operator"),
  ];
  // A rule is accepted if enough people can vote even when one of them makes the request.
  for (const role of ["admin", "operator"] as const) await newMember(api, projectId, role);
  key = await api.createKey(session, { otp: "exempt", dailyCapUsd: "1000000" });
  walletId = (await session.client.call(createPrivacyWallet, { body: { name: "Payroll" } })).id;
  for (let note = 0; note < 8; note += 1) await money.deposit(walletId, "USDC", "100");
}, 120_000);

const pay = async (by: ApiClient, amount = "20", toAddress = testAccount().address) => {
  const body = { chainId, token: "USDC", amount, toAddress, privacyWalletId: walletId };
  return { ...(await by.call(privateTransfer, { body })), toAddress };
};
const operationOf = (id: string) => session.client.call(getOperation, { params: { id } });
const carryOn = async ({ id }: { readonly id: string }): Promise<void> => {
  await services.decisionRunner.settle(`${projectId}/${id}/decided`);
};
const auditOf = async (subject: string, action: string) =>
  (await prisma.auditEvent.findFirstOrThrow({ where: { subject, action } })).data;
const setVotes = async (approvals: typeof TWO | null): Promise<void> => {
  await (approvals === null
    ? withApproval(session.account, (approval) =>
        session.client.call(updatePolicies, {
          body: { approvals, ...(approval ? { approval } : {}) },
        }),
      )
    : demandVotes(session.client, approvals));
};
const demand = async (rules: PolicyRules): Promise<void> => {
  const baseVersion = await prisma.policy.count({ where: { projectId } });
  await putRules(session, { scope: "project", baseVersion, rules });
};

test("the audit log names the factor that approved a private operation", async () => {
  const mailed = await pay(session.client);
  await session.client.call(requestOtp, { body: { operationId: mailed.operationId } });
  const { email } = await session.client.call(getMe);
  const otp = await api.readCode(email ?? "");
  await session.client.call(approveOperation, {
    params: { id: mailed.operationId },
    body: { otp },
  });
  expect(await auditOf(mailed.operationId, "operation.approved")).toMatchObject({
    means: "code",
  });

  const { secret } = await withApproval(session.account, (approval) =>
    session.client.call(startTotp, { body: { approval } }),
  );
  const bytes = fromBase32(secret);
  const codeAt = (steps: number): string => totpCode(bytes, stepAt(new Date()) + steps);
  // Each code is good once. The code of the step before is refused where a new step begins now.
  await vi.waitFor(
    () => session.client.call(confirmTotp, { body: { code: codeAt(-1) } }),
    20_000,
  );
  const byApp = await pay(session.client);
  await session.client.call(approveOperation, {
    params: { id: byApp.operationId },
    body: { totp: codeAt(0) },
  });
  expect(await auditOf(byApp.operationId, "operation.approved")).toMatchObject({
    means: "totp",
  });

  const body = { chainId, fromToken: "USDC", toToken: "DAI", amount: "30" };
  const { quoteId } = await session.client.call(quotePrivateSwap, { body });
  await session.client.call(preparePrivateSwap, {
    body: { quoteId, totp: codeAt(1), privacyWalletId: walletId },
  });
  const { operationId } = await session.client.call(executePrivateSwap, { body: { quoteId } });
  expect(await auditOf(operationId, "operation.executed")).toMatchObject({ means: "totp" });

  const within = await pay(key.client);
  expect(await auditOf(within.operationId, "operation.executed")).toMatchObject({
    means: "policy",
  });
  for (const id of [mailed.operationId, byApp.operationId, operationId, within.operationId])
    await money.settle(id);
});

test("where the project demands votes, a private transfer leaves once when two others have approved exactly it", async () => {
  await setVotes(TWO);
  const { operationId, toAddress } = await pay(session.client);
  const request = await requestAbout(session.client, operationId);
  expect(request).toMatchObject({
    state: "open",
    mayDecide: false,
    title: "Private transfer of 20.00 USDC on Local 1",
  });
  expect(request.lines.join(" ")).toContain(toAddress);
  const byCode = [
    session.client.call(requestOtp, { body: { operationId } }),
    session.client.call(approveOperation, {
      params: { id: operationId },
      body: { otp: "000000" },
    }),
  ];
  for (const refusal of await Promise.all(byCode.map(refusalOf)))
    expect(refusal).toMatchObject({
      status: 409,
      code: "invalid_state",
      body: { decisionId: request.id },
    });

  await vote(voters[0], request.id);
  await money.look(operationId);
  expect(await operationOf(operationId)).toMatchObject({ subStatus: "awaiting_approval" });
  await vote(voters[1], request.id);
  await Promise.all([carryOn(request), carryOn(request), carryOn(request)]);
  await money.settle(operationId);
  expect(await operationOf(operationId)).toMatchObject({ status: "completed" });
  expect(world.balanceOf(USDC, toAddress)).toBe(20_000_000n);
  const consent = { means: "votes", decisionId: request.id };
  expect(await auditOf(operationId, "operation.approved")).toMatchObject(consent);
  const evaluations = await prisma.policyEvaluation.findMany({
    where: { projectId, subjectId: operationId },
  });
  expect(evaluations).toHaveLength(1);
});

test("a key and a webhook that may not see private operations learn nothing of a request for votes on one", async () => {
  const { operationId, toAddress } = await pay(session.client, "21");
  const request = await requestAbout(session.client, operationId);
  const blind = await api.createKey(session, {
    scopes: SCOPES.filter((scope) => !scope.startsWith("privacy:")),
  });
  const seeing = await api.createKey(session, { scopes: ["operations:read", "privacy:read"] });
  expect(await requestAbout(seeing.client, operationId)).toMatchObject({ id: request.id });
  const listed = await blind.client.call(listDecisions, { query: {} });
  expect(listed.data.filter(({ subject }) => subject.id === operationId)).toEqual([]);
  const read = await refusalOf(blind.client.call(getDecision, { params: { id: request.id } }));
  expect(read).toMatchObject({ status: 404, code: "not_found" });
  const told = await prisma.eventOutbox.findMany({ where: { objectId: request.id } });
  const numbered = await prisma.event.findMany({ where: { objectId: request.id } });
  expect([...told, ...numbered].map((event) => event.private)).toEqual([true]);
  expect(JSON.stringify([...told, ...numbered].map(({ payload }) => payload))).not.toContain(
    toAddress,
  );
  await vote(voters[0], request.id, "decline");
  await carryOn(request);
  expect(await operationOf(operationId)).toMatchObject({ status: "cancelled" });
  await money.look(operationId);
  expect(world.balanceOf(USDC, toAddress)).toBe(0n);
});

test("a private operation that is cancelled while it waits ends its request, and votes on it move nothing", async () => {
  const { operationId, toAddress } = await pay(session.client);
  const request = await requestAbout(session.client, operationId);
  await vote(voters[0], request.id);
  await session.client.call(cancelOperation, { params: { id: operationId } });
  expect(await refusalOf(vote(voters[1], request.id))).toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  expect(await requestAbout(session.client, operationId)).toMatchObject({ state: "cancelled" });
  await carryOn(request);
  expect(world.balanceOf(USDC, toAddress)).toBe(0n);
});

test("a private swap of a project with votes takes no code, and waits for the votes once it is executed", async () => {
  const body = { chainId, fromToken: "USDC", toToken: "DAI", amount: "25" };
  const { quoteId } = await session.client.call(quotePrivateSwap, { body });
  const asked = await refusalOf(session.client.call(requestOtp, { body: { quoteId } }));
  expect(asked).toMatchObject({ status: 409, code: "invalid_state" });
  expect(asked.message).toContain("prepare it without a code");
  const prepare = (otp?: string) =>
    session.client.call(preparePrivateSwap, {
      body: { quoteId, privacyWalletId: walletId, ...(otp ? { otp } : {}) },
    });
  expect(await refusalOf(prepare("000000"))).toMatchObject({
    status: 409,
    code: "invalid_state",
  });
  await prepare();
  const { operationId } = await session.client.call(executePrivateSwap, { body: { quoteId } });
  const request = await requestAbout(session.client, operationId);
  for (const voter of voters) await vote(voter, request.id);
  await carryOn(request);
  await money.settle(operationId);
  expect(await operationOf(operationId)).toMatchObject({ status: "completed" });
});

test("a policy lets an exempt key's private payment above its amount wait for votes, and the stricter policy of the moment decides", async () => {
  await setVotes(null);
  await demand({ approvals: { aboveUsd: "10", ...TWO } });
  const small = await pay(key.client, "5");
  expect(await operationOf(small.operationId)).not.toMatchObject({
    subStatus: "awaiting_approval",
  });
  await money.settle(small.operationId);
  const large = await pay(key.client, "30");
  expect(await operationOf(large.operationId)).toMatchObject({
    subStatus: "awaiting_approval",
  });
  const request = await requestAbout(session.client, large.operationId);
  await demand({ approvals: { aboveUsd: "10", ...TWO, count: 3 } });
  for (const voter of voters) await vote(voter, request.id);
  await carryOn(request);
  expect(await operationOf(large.operationId)).toMatchObject({
    status: "failed",
    failure: { code: "policy_violation" },
  });
  expect(world.balanceOf(USDC, large.toAddress)).toBe(0n);
});
