/** Transfers and swaps of a project whose setting demands votes. */
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { getMe } from "@/lib/contracts/auth";
import { approveOperation, cancelOperation, getOperation } from "@/lib/contracts/operations";
import { shield } from "@/lib/contracts/privacy";
import { executeSwap, requestOtp } from "@/lib/contracts/swap";
import { getTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import type { ApiClient } from "@/lib/api-client/client";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { eventTypesOf } from "@/lib/dev/testing/project-events";
import {
  demandVotes,
  newMember,
  refusalOf,
  requestAbout,
  vote,
  type TestMember,
} from "@/lib/dev/testing/voters";

const CHAIN = 31337;
const api = await testApi({ worker: true });
const { registry, database, decisionRunner } = api.services;

let customer: Customer;
let client: ApiClient;
let projectId = "";
let voters: readonly [TestMember, TestMember];
beforeAll(async () => {
  customer = await newCustomer(api);
  ({ client } = customer.session);
  projectId = (await client.call(getMe)).projects[0]?.id ?? "";
  voters = [
    await newMember(api, projectId, "admin"),
    await newMember(api, projectId, "operator"),
  ];
  await demandVotes(client, { count: 2, roles: ["owner", "admin", "operator"] });
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
}, 120_000);

const balance = (owner: Address, symbol = "USDC"): Promise<bigint> =>
  balanceOnChain(
    registry.get(CHAIN).rpcUrls[0] ?? "",
    registry.resolveToken(CHAIN, symbol).address,
    owner,
  );

/** A transfer that its maker's code has let through, and that now waits for votes. */
const waitingTransfer = async (amount: string, toAddress = testAccount().address) => {
  const at = { fromChainId: CHAIN, toChainId: CHAIN, token: "USDC" };
  const body = { fromWalletId: customer.treasuryId, toAddress, ...at, amount };
  const { transferId } = await prepareTransfer(api, customer, body);
  const started = await client.call(executeSwap, { body: { transferId } });
  expect(started).toMatchObject({
    status: "pending",
    subStatus: "awaiting_approval",
    transferId,
  });
  return {
    transferId,
    operationId: started.operationId,
    toAddress,
    request: await requestAbout(client, started.operationId),
  };
};

test("a transfer waits for two other people after its maker's code, and leaves once when both approve at once", async () => {
  const { transferId, operationId, toAddress, request } = await waitingTransfer("5");
  expect(await client.call(getTransfer, { params: { id: transferId } })).toMatchObject({
    subStatus: "awaiting_approval",
  });
  expect(request).toMatchObject({ state: "open", mayDecide: false });
  expect(request.title).toMatch(/^Transfer of 5\.00 USDC on /);
  expect(request.lines.join(" ")).toContain(toAddress);
  const again = await client.call(executeSwap, { body: { transferId } });
  expect(again).toMatchObject({ operationId, subStatus: "awaiting_approval" });
  await Promise.all(voters.map((voter) => vote(voter, request.id)));
  // Workers that took the same job would do the same again.
  const settle = () => decisionRunner.settle(`${projectId}/${request.id}/decided`);
  await Promise.all([settle(), settle(), settle()]);
  expect(await waitUntilFinal(client, operationId)).toMatchObject({
    status: "completed",
    kind: "transfer",
  });
  expect(await balance(toAddress)).toBe(5_000_000n);
  const audit = await database.prisma.auditEvent.findMany({
    where: { subject: operationId },
    orderBy: { id: "asc" },
  });
  expect(audit.map(({ action }) => action)).toEqual([
    "operation.requested",
    "operation.approved",
  ]);
  expect(audit[1]?.data).toMatchObject({ means: "votes", decisionId: request.id });
  const types = await eventTypesOf(database, transferId);
  expect(types.filter((type) => type === "transfer.approved")).toHaveLength(2);
  expect(types.at(-1)).toBe("transfer.completed");
});

test("whoever gave the code asks for the votes: nobody executes it in another's name and lets the maker vote", async () => {
  const at = {
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
    toAddress: testAccount().address,
  };
  const body = { fromWalletId: customer.treasuryId, ...at, amount: "1" };
  const { transferId } = await prepareTransfer(api, customer, body);
  const executing = voters[0].client.call(executeSwap, { body: { transferId } });
  expect(await refusalOf(executing)).toMatchObject({ status: 409, code: "invalid_state" });
  expect(
    (await client.call(getTransfer, { params: { id: transferId } })).operationId,
  ).toBeNull();
});

test("the code of one person lets no waiting operation run", async () => {
  const { operationId } = await waitingTransfer("1");
  for (const by of [client, voters[0].client]) {
    const asked = await refusalOf(by.call(requestOtp, { body: { operationId } }));
    expect(asked).toMatchObject({ status: 409, code: "invalid_state" });
    const approving = by.call(approveOperation, {
      params: { id: operationId },
      body: { otp: "000000" },
    });
    expect(await refusalOf(approving)).toMatchObject({ status: 409, code: "invalid_state" });
  }
});

test("a shield waits for votes as well, and is no way around them", async () => {
  const { operationId } = await client.call(shield, {
    body: { chainId: CHAIN, token: "USDC", amount: "1" },
  });
  const works = [
    client.call(requestOtp, { body: { operationId } }),
    client.call(approveOperation, { params: { id: operationId }, body: { otp: "000000" } }),
  ];
  for (const refusal of await Promise.all(works.map(refusalOf)))
    expect(refusal).toMatchObject({ status: 409, code: "invalid_state" });
  const request = await requestAbout(client, operationId);
  for (const voter of voters) await vote(voter, request.id);
  expect(await waitUntilFinal(client, operationId)).toMatchObject({
    status: "completed",
    kind: "shield",
  });
});

test("a swap waits too, and so does a swap with transfer in one call", async () => {
  const from = [{ address: customer.treasury, chainId: CHAIN, token: "USDC", amount: "10" }];
  const toAddress = testAccount().address;
  const quote = await prepareQuote(api, customer, {
    from,
    toChainId: CHAIN,
    toToken: "WETH",
    toAddress,
  });
  const swap = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  const common = {
    fromWalletId: customer.treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    amount: "5",
  };
  const recipient = testAccount().address;
  const inOne = await client.call(swapAndTransfer, {
    body: { ...common, fromToken: "USDC", toToken: "USDC", recipient },
  });
  for (const { operationId } of [swap, inOne]) {
    const request = await requestAbout(client, operationId);
    for (const voter of voters) await vote(voter, request.id);
    expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
  }
  expect(await balance(toAddress, "WETH")).toBeGreaterThan(0n);
  expect(await balance(recipient)).toBe(5_000_000n);
});

test("a transfer whose price has moved when the last vote comes fails with its reason, and nothing is sent", async () => {
  const before = await balance(customer.treasury);
  const { operationId, request } = await waitingTransfer("2");
  // As if the route brought less than the approved minimum now.
  await database.prisma.quote.updateMany({
    where: { operationId },
    data: { minimumBase: "2000001" },
  });
  for (const voter of voters) await vote(voter, request.id);
  const operation = await waitUntilFinal(client, operationId);
  expect(operation).toMatchObject({
    status: "failed",
    failure: { code: "quote_price_moved" },
    legs: [],
  });
  expect(await balance(customer.treasury)).toBe(before);
});

test("a declined transfer and one that nobody decides move nothing, and a cancelled one asks nobody any more", async () => {
  const before = await balance(customer.treasury);
  const declined = await waitingTransfer("1");
  await vote(voters[1], declined.request.id, "decline");
  expect(await waitUntilFinal(client, declined.operationId)).toMatchObject({
    status: "cancelled",
  });
  const cancelled = await waitingTransfer("1");
  await client.call(cancelOperation, { params: { id: cancelled.operationId } });
  expect((await requestAbout(client, cancelled.operationId)).state).toBe("cancelled");
  const late = await waitingTransfer("1");
  const { prisma } = database;
  const key = { projectId_id: { projectId, id: late.request.id } };
  await prisma.decisionRequest.update({ where: key, data: { expiresAt: new Date(0) } });
  await decisionRunner.run(`${projectId}/${late.request.id}/decision`);
  expect(await waitUntilFinal(client, late.operationId)).toMatchObject({ status: "expired" });
  expect((await client.call(getOperation, { params: { id: late.operationId } })).legs).toEqual(
    [],
  );
  expect(await balance(customer.treasury)).toBe(before);
});
