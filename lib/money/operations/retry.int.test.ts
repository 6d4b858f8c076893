import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseUnits, type Address } from "viem";
import { afterAll, expect, test } from "vitest";
import type { z } from "zod";
import type { ApiClient } from "@/lib/api-client/client";
import { chainsFile } from "@/lib/platform/config/chains";
import { cancelOperation, getOperation, retryOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { type quoteRecord } from "@/lib/contracts/quote-records";
import { getTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { heedDepositsOf, ignoreDepositsOf } from "@/lib/dev/testing/hub";
import {
  balanceOnChain,
  codesOf,
  fund,
  newCustomer,
  prepareQuote,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { putRules } from "@/lib/dev/testing/policies";
import { newMember } from "@/lib/dev/testing/voters";
import { startWorker } from "@/lib/workers/runner";
import { afterFile } from "@/lib/dev/testing/after-file";

const [ONE, TWO] = [31337, 31338];
const FILL_DEADLINE_SECONDS = 6;

/** The configuration of the local chains with a deadline that a test can wait for. */
const impatientChains = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  const { chains } = chainsFile.parse(
    JSON.parse(readFileSync("lib/platform/config/chains/local.json", "utf8")),
  );
  for (const { contracts } of chains) {
    if (contracts.across) contracts.across.fillDeadlineSeconds = FILL_DEADLINE_SECONDS;
  }
  const file = join(folder, "chains.json");
  writeFileSync(file, JSON.stringify({ chains }));
  return file;
};

const api = await testApi({ variables: { CHAINS_FILE: impatientChains() } });
const { registry, database } = api.services;
const worker = { current: startWorker(api.services) };
afterAll(() => worker.current.stop());

const balance = (chainId: number, symbol: string, owner: Address): Promise<bigint> =>
  balanceOnChain(
    registry.get(chainId).rpcUrls[0] ?? "",
    registry.resolveToken(chainId, symbol).address,
    owner,
  );

/** A transfer to the other chain that was refunded. */
const refundedTransfer = async (token: string, amount: string) => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token, amount });
  const recipient = testAccount().address;
  const body = {
    fromWalletId: customer.treasuryId,
    toAddress: recipient,
    fromChainId: ONE,
    toChainId: TWO,
    token,
    amount,
  };
  await ignoreDepositsOf(customer.treasury);
  const { transferId } = await prepareTransfer(api, customer, body);
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  const operation = await waitUntilFinal(client, operationId, 60_000);
  await heedDepositsOf(customer.treasury);
  expect(operation).toMatchObject({
    status: "refunded",
    may: { retry: true },
    retriedBy: null,
  });
  return { customer, recipient, operationId };
};

const retryQuote = async (
  client: ApiClient,
  id: string,
): Promise<z.output<typeof quoteRecord>> => {
  const answer = await client.call(retryOperation, { params: { id } });
  if (!("quoteId" in answer)) throw new Error("The retry is no quote.");
  return answer;
};

/** Expects that the quote of a retry names the votes that a policy requires now. */
const expectVotes = async ({ session }: Customer, id: string): Promise<void> => {
  const { projectId } = await database.prisma.operation.findFirstOrThrow({ where: { id } });
  for (const role of ["operator", "operator"] as const) await newMember(api, projectId, role);
  const approvals = {
    aboveUsd: "1",
    count: 1,
    roles: ["operator" as const],
    excludeMaker: true,
  };
  await putRules(session, { scope: "project", baseVersion: 0, rules: { approvals } });
  expect(await retryQuote(session.client, id)).toMatchObject({
    votes: { count: 1, roles: ["operator"], excludeMaker: true },
  });
  await putRules(session, { scope: "project", baseVersion: 1, rules: {} });
};

/**
 * Requests a retry, gets the code and prepares the operation; the caller has only to execute it.
 */
const prepareRetry = async (customer: Customer, id: string): Promise<string> => {
  const { client } = customer.session;
  const seen = await codesOf(api, customer);
  const { quoteId } = await retryQuote(client, id);
  await client.call(requestOtp, { body: { quoteId } });
  const otp = await api.readCode(customer.email, seen);
  await client.call(prepareSwap, { body: { quoteId, otp } });
  return quoteId;
};

test("what came back is sent again, once, however many retries are executed at once", async () => {
  const { customer, recipient, operationId } = await refundedTransfer("USDC", "25");
  const { client } = customer.session;
  // Twice the money, so that a second retry could take it.
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "25" });
  const quotes = [
    await prepareRetry(customer, operationId),
    await prepareRetry(customer, operationId),
  ];
  const answers = await Promise.allSettled(
    quotes.map((quoteId) => client.call(executeSwap, { body: { quoteId } })),
  );
  const accepted = answers.flatMap((answer) =>
    answer.status === "fulfilled" ? [answer.value] : [],
  );
  expect(accepted).toHaveLength(1);
  const refused = answers.find((answer) => answer.status === "rejected");
  expect(refused?.reason).toMatchObject({ status: 409, code: "invalid_state" });
  const again = await waitUntilFinal(client, accepted[0]?.operationId ?? "", 60_000);
  expect(again).toMatchObject({ kind: "transfer", status: "completed", retryOf: operationId });
  expect(await balance(TWO, "USDC", recipient)).toBe(BigInt(again.actual.received.amountBase));
  expect(await balance(ONE, "USDC", customer.treasury)).toBe(parseUnits("25", 6));
  const before = await client.call(getOperation, { params: { id: operationId } });
  expect(before).toMatchObject({ retriedBy: again.operationId, may: { retry: false } });
  await expect(
    client.call(retryOperation, { params: { id: operationId } }),
  ).rejects.toMatchObject({
    status: 409,
    code: "invalid_state",
    body: { retriedBy: again.operationId },
  });
  const audited = await database.prisma.auditEvent.findMany({
    where: { subject: operationId, action: "operation.retried" },
  });
  expect(audited.map(({ actor, data }) => [actor, data])).toEqual(
    expect.arrayContaining(quotes.map((quoteId) => [before.createdBy, { quoteId }])),
  );
  // The loser's money is no longer held, and its quote is still unused.
  const loser = await database.prisma.quote.findMany({
    where: { retryOf: operationId, operationId: null },
  });
  expect(loser).toHaveLength(1);
  const shown = await client.call(getTransfer, { params: { id: loser[0]?.transferId ?? "" } });
  expect(shown).toMatchObject({ status: "pending", operationId: null });
}, 120_000);

test("coins that came back wrapped are sent again from what they are now", async () => {
  const { customer, recipient, operationId } = await refundedTransfer("native", "1");
  const { client } = customer.session;
  expect(await balance(ONE, "WETH", customer.treasury)).toBe(parseUnits("1", 18));
  await expectVotes(customer, operationId);
  const quoteId = await prepareRetry(customer, operationId);
  const { operationId: again } = await client.call(executeSwap, { body: { quoteId } });
  const operation = await waitUntilFinal(client, again, 60_000);
  expect(operation).toMatchObject({ status: "completed", retryOf: operationId });
  expect(operation.quoted.from).toEqual([
    expect.objectContaining({ amount: "1", chainId: ONE }),
  ]);
  expect(operation.quoted.from[0]?.token.symbol).toBe("WETH");
  expect(await balance(TWO, "native", recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
  expect(await balance(ONE, "WETH", customer.treasury)).toBe(0n);
}, 120_000);

test("only what failed is sent again: of a part that arrived nothing", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await ignoreDepositsOf(customer.treasury);
  for (const chainId of [ONE, TWO])
    await fund(client, customer.treasury, { chainId, token: "USDC", amount: "10" });
  const recipient = testAccount().address;
  const source = (chainId: number) => ({
    address: customer.treasury,
    chainId,
    token: "USDC",
    amount: "10",
  });
  const body = {
    from: [source(ONE), source(TWO)],
    toChainId: TWO,
    toToken: "USDC",
    toAddress: recipient,
  };
  const quote = await prepareQuote(api, customer, body);
  const { operationId } = await client.call(executeSwap, { body: { quoteId: quote.quoteId } });
  const operation = await waitUntilFinal(client, operationId, 60_000);
  expect(operation).toMatchObject({
    status: "partially_completed",
    subStatus: "partial",
    may: { retry: true },
  });
  await heedDepositsOf(customer.treasury);
  const retry = await retryQuote(client, operationId);
  expect(retry.from).toEqual([expect.objectContaining({ chainId: ONE, amount: "10" })]);
}, 120_000);

test("an operation that runs or arrived cannot be tried again, and another project's does not exist", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "5" });
  const recipient = testAccount().address;
  const body = {
    fromWalletId: customer.treasuryId,
    toAddress: recipient,
    fromChainId: ONE,
    toChainId: ONE,
    token: "USDC",
  };
  const { transferId } = await prepareTransfer(api, customer, { ...body, amount: "5" });
  await worker.current.stop();
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  const retry = (by = client) => by.call(retryOperation, { params: { id: operationId } });
  await expect(retry()).rejects.toMatchObject({ status: 409, code: "invalid_state" });
  const other = await newCustomer(api);
  await expect(retry(other.session.client)).rejects.toMatchObject({
    status: 404,
    code: "not_found",
  });
  worker.current = startWorker(api.services);
  await waitUntilFinal(client, operationId);
  await expect(retry()).rejects.toMatchObject({ status: 409, code: "invalid_state" });
});

test("cancelled before it begins, an operation gives its money free and never runs", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "5" });
  const body = {
    fromWalletId: customer.treasuryId,
    toAddress: testAccount().address,
    fromChainId: ONE,
    toChainId: ONE,
    token: "USDC",
    amount: "5",
  };
  const { transferId } = await prepareTransfer(api, customer, body);
  await worker.current.stop();
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  expect(await client.call(getOperation, { params: { id: operationId } })).toMatchObject({
    may: { cancel: true },
  });
  const cancelled = await client.call(cancelOperation, { params: { id: operationId } });
  expect(cancelled).toMatchObject({
    status: "cancelled",
    may: { cancel: false, retry: false },
  });
  expect(cancelled.legs).toEqual([expect.objectContaining({ status: "cancelled" })]);
  expect(cancelled.outcome.holds).toEqual([
    expect.objectContaining({ wallet: customer.treasury, amount: "5" }),
  ]);
  expect(
    await database.prisma.balanceHold.count({ where: { operationId, releasedAt: null } }),
  ).toBe(0);
  worker.current = startWorker(api.services);
  // The same money can be promised again at once, and this time it arrives.
  const second = await prepareTransfer(api, customer, body);
  const started = await client.call(executeSwap, { body: { transferId: second.transferId } });
  expect((await waitUntilFinal(client, started.operationId)).status).toBe("completed");
  expect(await client.call(getTransfer, { params: { id: transferId } })).toMatchObject({
    status: "cancelled",
  });
  expect((await client.call(getOperation, { params: { id: operationId } })).status).toBe(
    "cancelled",
  );
});
