/** Movements that wait for votes because a policy demands them. */
import type { Address } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { approveOperation, getOperation } from "@/lib/contracts/operations";
import { createWalletsPayout, getPayout } from "@/lib/contracts/payouts";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { createQuote, executeSwap } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import type { ApiClient } from "@/lib/api-client/client";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { putRules } from "@/lib/dev/testing/policies";
import {
  newMember,
  refusalOf,
  requestAbout,
  vote,
  type TestMember,
} from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const WAIT = { timeout: 60_000, interval: 200 };
const api = await testApi({ worker: true });
const { registry, database, decisionRunner } = api.services;
const { prisma } = database;

let customer: Customer;
let client: ApiClient;
let key: ApiClient;
let projectId = "";
let version = 0;
let voters: readonly [TestMember, TestMember];

const demand = async (rules: PolicyRules): Promise<void> => {
  await putRules(customer.session, { scope: "project", baseVersion: version, rules });
  version += 1;
};
const TWO = {
  aboveUsd: "10",
  count: 2,
  roles: ["admin" as const, "operator" as const],
  excludeMaker: true,
};

beforeAll(async () => {
  customer = await newCustomer(api);
  ({ client } = customer.session);
  projectId = (await client.call(getMe)).projects[0]?.id ?? "";
  voters = [
    await newMember(api, projectId, "admin"),
    await newMember(api, projectId, "operator"),
  ];
  // A rule is taken where enough people can vote also when one of them asks.
  for (const role of ["admin", "operator"] as const) await newMember(api, projectId, role);
  key = (await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100000" }))
    .client;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "500" });
  await demand({ approvals: TWO });
}, 120_000);

const balance = (owner: Address): Promise<bigint> =>
  balanceOnChain(
    registry.get(CHAIN).rpcUrls[0] ?? "",
    registry.resolveToken(CHAIN, "USDC").address,
    owner,
  );

const send = (amount: string, recipient = testAccount().address) => {
  const at = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, toChainId: CHAIN };
  return key.call(swapAndTransfer, {
    body: { ...at, fromToken: "USDC", toToken: "USDC", amount, recipient },
  });
};

const waiting = async (amount: string, recipient = testAccount().address) => {
  const { operationId, subStatus } = await send(amount, recipient);
  expect(subStatus).toBe("awaiting_approval");
  return { operationId, recipient, request: await requestAbout(client, operationId) };
};

const evaluationOf = async (id: string) => {
  const { evaluationId } = await prisma.operation.findUniqueOrThrow({ where: { id } });
  return prisma.policyEvaluation.findFirstOrThrow({
    where: { projectId, id: evaluationId ?? "" },
  });
};

test("above the amount a movement waits for the votes of the policy, and is signed when both people have approved", async () => {
  const { operationId, recipient, request } = await waiting("20");
  expect(request.required).toMatchObject({
    count: 2,
    roles: ["admin", "operator"],
    excludeMaker: true,
  });
  const approving = client.call(approveOperation, {
    params: { id: operationId },
    body: { otp: "000000" },
  });
  expect(await refusalOf(approving)).toMatchObject({ status: 409, code: "invalid_state" });
  await vote(voters[0], request.id);
  expect(
    await prisma.operation.findUniqueOrThrow({ where: { id: operationId } }),
  ).toMatchObject({
    subStatus: "awaiting_approval",
    evaluationId: null,
  });
  await vote(voters[1], request.id);
  expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
  expect(await balance(recipient)).toBe(20_000_000n);
  const evaluation = await evaluationOf(operationId);
  expect(evaluation).toMatchObject({
    decision: "allow",
    subjectId: operationId,
    facts: { decisionId: request.id },
  });
  expect(evaluation.rules).toMatchObject([{ rule: "approvals", outcome: "needs_approval" }]);
});

test("up to the amount nobody is asked", async () => {
  const { operationId } = await send("10");
  expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
});

test("a prepared transfer waits too, and what was declined or has expired moves nothing", async () => {
  const before = await balance(customer.treasury);
  const at = {
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
    toAddress: testAccount().address,
  };
  const body = { fromWalletId: customer.treasuryId, ...at, amount: "30" };
  const { transferId } = await prepareTransfer(api, customer, body);
  const declined = await client.call(executeSwap, { body: { transferId } });
  expect(declined).toMatchObject({ subStatus: "awaiting_approval" });
  // Voters see the balance changes that the maker saw.
  const params = { id: declined.operationId };
  const { quoted } = await voters[0].client.call(getOperation, { params });
  expect(quoted.balanceChanges).toMatchObject([
    { walletAddress: customer.treasury, chainId: CHAIN, change: "-30", certainty: "simulated" },
    { walletAddress: at.toAddress, chainId: CHAIN, change: "+30", certainty: "simulated" },
  ]);
  await vote(voters[0], (await requestAbout(client, declined.operationId)).id, "decline");
  expect(await waitUntilFinal(client, declined.operationId)).toMatchObject({
    status: "cancelled",
    legs: [],
  });
  const late = await waiting("20");
  const at0 = { projectId_id: { projectId, id: late.request.id } };
  await prisma.decisionRequest.update({ where: at0, data: { expiresAt: new Date(0) } });
  await decisionRunner.run(`${projectId}/${late.request.id}/decision`);
  expect(await waitUntilFinal(client, late.operationId)).toMatchObject({
    status: "expired",
    legs: [],
  });
  expect(await balance(customer.treasury)).toBe(before);
});

test("a payout to wallets waits, and is paid after the votes with an evaluation of its own", async () => {
  const recipients = [testAccount().address, testAccount().address];
  const transfers = recipients.map((address) => ({ address, amount: "15", token: "USDC" }));
  const { payoutId } = await key.call(createWalletsPayout, {
    body: { chainId: CHAIN, transfers },
  });
  const params = { id: payoutId ?? "" };
  expect(await client.call(getPayout, { params })).toMatchObject({
    subStatus: "awaiting_approval",
  });
  const { id } = await requestAbout(client, params.id);
  for (const voter of voters) await vote(voter, id);
  await vi.waitFor(async () => {
    expect(await client.call(getPayout, { params })).toMatchObject({ status: "completed" });
  }, WAIT);
  for (const recipient of recipients) expect(await balance(recipient)).toBe(15_000_000n);
  const evaluations = await prisma.policyEvaluation.findMany({
    where: { projectId, subjectId: params.id },
  });
  expect(evaluations).toMatchObject([{ decision: "allow", facts: { decisionId: id } }]);
});

test("the project's setting and the policy count together: the most people, and the roles that both accept", async () => {
  const setting = {
    count: 1,
    roles: ["owner" as const, "operator" as const],
    excludeMaker: false,
  };
  await prisma.project.update({
    where: { id: projectId },
    data: { approvalsCount: 1, approvalsRoles: setting.roles, approvalsExcludeMaker: false },
  });
  const { request } = await waiting("20");
  const required = { count: 2, roles: ["operator"], excludeMaker: true };
  expect(request.required).toEqual(required);
  // Quotes and transfers say it before anything is executed.
  const [from, to] = [customer.treasury, testAccount().address];
  const quote = await client.call(createQuote, {
    body: {
      from: [{ address: from, chainId: CHAIN, token: "USDC", amount: "20" }],
      toChainId: CHAIN,
      toToken: "DAI",
      toAddress: to,
    },
  });
  expect(quote.votes).toEqual(required);
  const transfer = (amount: string) =>
    client.call(createTransfer, {
      body: {
        fromWalletId: customer.treasuryId,
        fromChainId: CHAIN,
        toChainId: CHAIN,
        token: "USDC",
        amount,
        toAddress: to,
      },
    });
  expect((await transfer("20")).votes).toEqual(required);
  expect((await transfer("1")).votes).toEqual({ ...setting, roles: ["operator", "owner"] });
  await prisma.project.update({
    where: { id: projectId },
    data: { approvalsCount: 0, approvalsRoles: [] },
  });
  expect((await transfer("1")).votes).toBeNull();
});

test("what was approved under a looser policy moves nothing once the policy demands more", async () => {
  const { operationId, recipient, request } = await waiting("20");
  await demand({ approvals: { ...TWO, count: 3 } });
  for (const voter of voters) await vote(voter, request.id);
  expect(await waitUntilFinal(client, operationId)).toMatchObject({
    status: "failed",
    failure: { code: "policy_violation" },
    legs: [],
  });
  expect(await balance(recipient)).toBe(0n);
});
