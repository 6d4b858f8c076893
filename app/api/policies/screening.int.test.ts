import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiError } from "@/lib/api-client/client";
import { createWalletsPayout, getPayout, listPayoutItems } from "@/lib/contracts/payouts";
import { evaluatePolicies, getPolicyEvaluation } from "@/lib/contracts/policies";
import type { PolicyRules } from "@/lib/contracts/policy-rules";
import { createQuote, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { importList } from "@/lib/trust/screening/import-list";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { codesOf } from "@/lib/dev/testing/journey";
import { getAuditLog, putRules } from "@/lib/dev/testing/policies";
import { createListSigner, listContent } from "@/lib/dev/testing/screening-list";
import { startWorker } from "@/lib/workers/runner";

const CHAIN = 31337;
const WAIT = { timeout: 60_000, interval: 200 };
const signer = createListSigner();
const api = await testApi();
const { services } = api;
const { prisma } = services.database;
const worker: { current: ReturnType<typeof startWorker> | null } = { current: null };
afterAll(() => worker.current?.stop());

const pay = ({ client }: FundedCustomer, recipients: readonly `0x${string}`[]) =>
  client.call(createWalletsPayout, {
    body: {
      chainId: CHAIN,
      transfers: recipients.map((address) => ({ address, amount: "1", token: "USDC" })),
    },
  });

const recordsOf = ({ projectId }: FundedCustomer) =>
  prisma.screeningRecord.findMany({ where: { projectId }, orderBy: { id: "asc" } });

const listed: `0x${string}`[] = [];
let version = 0;
/** Imports the next version of the list, and waits until this instance uses it. */
const list = async (...addresses: `0x${string}`[]): Promise<void> => {
  listed.push(...addresses);
  version += 1;
  const content = listContent({
    list: "ofac",
    version,
    entries: listed.map((address) => ({ address })),
  });
  await importList(
    { database: services.database, keys: signer.keys, clock: services.clock },
    { text: signer.file(content), by: "test" },
  );
  await vi.waitFor(async () => {
    const asked = addresses.map((address) => ({ address, chainId: CHAIN }));
    const found = await services.screening.screen(asked, { mode: "block_hits" });
    expect(found?.stopped).toHaveLength(addresses.length);
  }, WAIT);
};

const accounts = (count: number) => Array.from({ length: count }, () => testAccount().address);

describe("without any list", () => {
  test("money moves as before, and nothing is recorded", async () => {
    const of = await fundedCustomer(api);
    const { operationId } = await sendUsdc(of, "1");
    expect(operationId).toMatch(/^op_/);
    expect(await recordsOf(of)).toEqual([]);
  });

  test("a policy that asks for a clear verdict stops what no source covers", async () => {
    const of = await fundedCustomer(api);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { screening: "require_clear" },
    });
    await expect(sendUsdc(of, "1")).rejects.toMatchObject({
      status: 403,
      code: "screening_refused",
      body: {
        details: expect.arrayContaining([
          expect.objectContaining({ code: "not_covered" }),
        ]) as unknown,
      },
    });
    expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(0);
    expect(await recordsOf(of)).toMatchObject([
      { outcome: "stopped", mode: "require_clear", subjectType: "request" },
    ]);
  });
});

describe("with a list", () => {
  beforeAll(() => list(testAccount().address));

  test("a listed recipient is refused with the list and its version, and the refusal is kept and audited", async () => {
    const of = await fundedCustomer(api);
    const recipient = testAccount().address;
    await list(recipient);
    const refusal = (await sendUsdc(of, "1", recipient).catch(
      (error: unknown) => error,
    )) as Error;
    expect(refusal).toMatchObject({
      code: "screening_refused",
      body: { details: [{ path: "recipient", code: "hit" }] },
    });
    expect(refusal.message).toContain(`list:ofac version ${String(version)}`);
    expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(0);
    const [kept] = await recordsOf(of);
    expect(kept).toMatchObject({ outcome: "stopped", phase: "accept" });
    expect(kept?.findings).toMatchObject([
      { address: recipient, state: "hit", source: "list:ofac", listVersion: String(version) },
    ]);
    expect(await getAuditLog(of.session, "screening.stopped")).toHaveLength(1);
    const { evaluationId } = (refusal as ApiError).body as { evaluationId: string };
    const evaluation = await of.session.client.call(getPolicyEvaluation, {
      params: { id: evaluationId },
    });
    expect(evaluation.decision).toBe("deny");
    expect(evaluation.rules).toMatchObject([
      {
        policyId: null,
        version: 0,
        scope: "project",
        rule: "screening",
        outcome: "deny",
        field: "recipient",
      },
    ]);
    expect(evaluation.rules[0]?.message).toContain(recipient);
  });

  test("what passes is recorded with its operation and the version that cleared it", async () => {
    const of = await fundedCustomer(api);
    const { operationId } = await sendUsdc(of, "1");
    const kept = (await recordsOf(of)).filter(({ subjectId }) => subjectId === operationId);
    expect(kept).toMatchObject([{ outcome: "passed", phase: "accept", findings: [] }]);
    expect(kept[0]?.sources).toMatchObject([
      { source: "list:ofac", listVersion: String(version), state: "clear" },
    ]);
  });

  test("one listed recipient of 100 is named by its row, and nothing is stored", async () => {
    const of = await fundedCustomer(api);
    const recipients = accounts(100);
    await list(recipients[41] ?? "0x");
    await expect(pay(of, recipients)).rejects.toMatchObject({
      code: "screening_refused",
      body: { details: [{ path: "transfers.41.address", code: "hit" }] },
    });
    expect(await prisma.payout.count({ where: { projectId: of.projectId } })).toBe(0);
  });

  test("`off` lets a listed recipient be paid, and a policy of the wallet can only be stricter", async () => {
    const of = await fundedCustomer(api);
    const recipient = testAccount().address;
    await list(recipient);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { screening: "off" },
    });
    expect((await sendUsdc(of, "1", recipient)).operationId).toMatch(/^op_/);
    const wallet = { scope: "wallet", subjectId: of.treasuryId, baseVersion: 0 } as const;
    await putRules(of.session, { ...wallet, rules: { screening: "block_hits" } });
    await expect(sendUsdc(of, "1", recipient)).rejects.toMatchObject({
      code: "screening_refused",
    });
    await putRules(of.session, { ...wallet, baseVersion: 1, rules: { screening: "off" } });
    await putRules(of.session, {
      scope: "project",
      baseVersion: 1,
      rules: { screening: "require_clear" },
    });
    await expect(sendUsdc(of, "1", recipient)).rejects.toMatchObject({
      code: "screening_refused",
    });
  }, 120_000);
});

test("a recipient that is listed after the code was mailed is refused at prepare, and the code is not used up", async () => {
  const of = await fundedCustomer(api);
  const { client } = of.session;
  const toAddress = testAccount().address;
  const seen = await codesOf(api, of);
  const { transferId } = await client.call(createTransfer, {
    body: {
      fromWalletId: of.treasuryId,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      token: "USDC",
      amount: "5",
      toAddress,
    },
  });
  await client.call(requestOtp, { body: { transferId } });
  const otp = await api.readCode(of.email, seen);
  const readStored = async () => ({
    quote: await prisma.quote.findFirstOrThrow({ where: { transferId } }),
    codes: await prisma.otp.findMany({ where: { projectId: of.projectId } }),
  });
  const before = await readStored();
  expect(before.quote).toMatchObject({ status: "open", approvedAt: null });
  await list(toAddress);
  await expect(client.call(prepareSwap, { body: { transferId, otp } })).rejects.toMatchObject({
    ...{ status: 403, code: "screening_refused" },
    body: { details: [{ path: "toAddress", code: "hit" }] },
  });
  expect(await readStored()).toEqual(before);
  expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(0);
  expect(await recordsOf(of)).toMatchObject([
    { outcome: "stopped", phase: "accept", subjectType: "request" },
  ]);
});

test("the dry run denies a listed recipient as acceptance does, by the rule of the policy, and stores nothing", async () => {
  const of = await fundedCustomer(api);
  const recipient = testAccount().address;
  await list(recipient);
  const dryRun = (rules?: PolicyRules) =>
    of.client.call(evaluatePolicies, {
      body: {
        ...{
          fromWalletId: of.treasuryId,
          fromChainId: CHAIN,
          token: "USDC",
          amount: "1",
          toAddress: recipient,
        },
        ...(rules === undefined ? {} : { draft: { scope: "project", rules } }),
      },
    });
  const tried = await dryRun();
  expect(tried).toMatchObject({
    ...{ decision: "deny", approval: null },
    rules: [
      { policyId: null, version: 0, rule: "screening", outcome: "deny", field: "toAddress" },
    ],
  });
  expect(tried.rules[0]?.message).toContain(`list:ofac version ${String(version)}`);
  expect(await dryRun({ screening: "off" })).toMatchObject({ decision: "allow", rules: [] });
  const { version: stored } = await putRules(of.session, {
    ...{
      scope: "project",
      baseVersion: 0,
      rules: { screening: "require_clear", perOperation: { usd: "50" } },
    },
  });
  expect((await dryRun()).rules).toMatchObject([
    { rule: "perOperation.usd", outcome: "allow" },
    { version: stored, scope: "project", rule: "screening", outcome: "deny" },
  ]);
  expect(await recordsOf(of)).toEqual([]);
  expect(await prisma.policyEvaluation.count({ where: { projectId: of.projectId } })).toBe(0);
});

describe("an address that is listed after the movement was accepted", () => {
  test("stops the operation and the one row before they are signed; the others are paid", async () => {
    const of = await fundedCustomer(api);
    const recipients = accounts(100);
    const [single, one] = [testAccount().address, recipients[7] ?? "0x"];
    const { operationId } = await sendUsdc(of, "1", single);
    const { payoutId } = await pay(of, recipients);
    if (payoutId === null) throw new Error("The payout was not stored.");
    await list(single, one);
    worker.current = startWorker(services);
    await vi.waitFor(async () => {
      const operation = await prisma.operation.findUniqueOrThrow({
        where: { id: operationId },
      });
      expect(operation).toMatchObject({
        status: "failed",
        failure: { code: "screening_refused" },
      });
      expect(JSON.stringify(operation.failure)).toContain(
        `list:ofac version ${String(version)}`,
      );
    }, WAIT);
    const legs = await prisma.operationLeg.findMany({ where: { operationId } });
    expect(legs.map(({ userOpHash, spentBase }) => [userOpHash, spentBase])).toEqual([
      [null, null],
    ]);
    const left = await prisma.balanceHold.findMany({
      where: { operationId, releasedAt: null },
    });
    expect(left).toEqual([]);

    await vi.waitFor(async () => {
      const payout = await of.client.call(getPayout, { params: { id: payoutId } });
      expect(payout.status).toBe("partially_completed");
    }, WAIT);
    const { data } = await of.client.call(listPayoutItems, {
      params: { id: payoutId },
      query: { limit: 100, status: "failed" },
    });
    expect(data).toMatchObject([
      { index: 7, failure: { code: "screening_refused", retryable: false } },
    ]);
    const records = (await recordsOf(of)).filter(({ phase }) => phase === "sign");
    expect(records.map(({ subjectId, outcome }) => [subjectId, outcome])).toEqual(
      expect.arrayContaining([
        [operationId, "stopped"],
        [payoutId, "stopped"],
        [payoutId, "passed"],
      ]),
    );
  }, 180_000);
});

test("a quote is not screened by lists that nobody imported for it: prices can be asked for any recipient", async () => {
  const of = await fundedCustomer(api);
  const from = [{ address: of.treasury, chainId: CHAIN, token: "USDC", amount: "1" }];
  const body = { from, toChainId: CHAIN, toToken: "USDT", toAddress: testAccount().address };
  expect((await of.client.call(createQuote, { body })).quoteId).toMatch(/^qt_/);
});
