import { beforeAll, describe, expect, test, vi } from "vitest";
import { createTransfer } from "@/lib/contracts/transfers";
import { approveContact, createContact } from "@/lib/contracts/contacts";
import { getOperation } from "@/lib/contracts/operations";
import { createWalletsPayout, getPayout } from "@/lib/contracts/payouts";
import { testApi } from "@/lib/dev/testing/api";
import { parametersDigest } from "@/lib/money/operations/parameters";
import { withApproval } from "@/lib/dev/testing/approve";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fundedCustomer,
  sendUsdc,
  type FundedCustomer,
} from "@/lib/dev/testing/funded-customer";
import { fund } from "@/lib/dev/testing/journey";
import { keepOneDay } from "@/lib/dev/testing/one-day";
import { putRules } from "@/lib/dev/testing/policies";

const CHAIN = 31337;
const WAIT = { timeout: 60_000, interval: 200 };
const api = await testApi({ worker: true });
const { prisma } = api.services.database;
keepOneDay(api.services.clock);

const ended = async (id: string) =>
  vi.waitFor(async () => {
    const operation = await prisma.operation.findUniqueOrThrow({ where: { id } });
    expect(["completed", "failed"]).toContain(operation.status);
    return operation;
  }, WAIT);

describe("operations", () => {
  test("without a policy move as before, and each has an evaluation", async () => {
    const of = await fundedCustomer(api);
    const { operationId } = await sendUsdc(of, "5");
    expect(await ended(operationId)).toMatchObject({ status: "completed" });
    const { evaluationId } = await of.client.call(getOperation, {
      params: { id: operationId },
    });
    const evaluation = await prisma.policyEvaluation.findFirstOrThrow({
      where: { id: evaluationId ?? "" },
    });
    expect(evaluation).toMatchObject({
      subjectId: operationId,
      decision: "allow",
      code: "not",
      policies: [],
    });
  });

  test("above a cap are refused with the rule and the field, and the refusal is kept", async () => {
    const of = await fundedCustomer(api);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { perOperation: { usd: "50" } },
    });
    const refusal = await sendUsdc(of, "60").catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      status: 403,
      code: "policy_violation",
      body: { details: [{ path: "amount", code: "perOperation.usd" }] },
    });
    expect(await prisma.operation.count({ where: { projectId: of.projectId } })).toBe(0);
    const kept = await prisma.policyEvaluation.findMany({ where: { projectId: of.projectId } });
    expect(kept).toMatchObject([{ decision: "deny" }]);
    const transfer = {
      fromWalletId: of.treasuryId,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      token: "USDC",
      amount: "60",
    };
    const body = { ...transfer, toAddress: testAccount().address };
    await expect(of.session.client.call(createTransfer, { body })).rejects.toMatchObject({
      code: "policy_violation",
    });
  });

  test("never exceed a daily cap together, however many come at once", async () => {
    const of = await fundedCustomer(api);
    const perDay = { assets: [{ assetId: "usdc", amount: "10" }], usd: "1000" };
    await putRules(of.session, {
      scope: "wallet",
      subjectId: of.treasuryId,
      baseVersion: 0,
      rules: { perDay },
    });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, () => sendUsdc(of, "3")),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const usage = await prisma.policyUsage.findMany({
      where: { projectId: of.projectId, unit: "asset:usdc" },
    });
    expect(usage.map(({ spent }) => spent.toFixed())).toEqual(["9"]);
  }, 120_000);

  test("of an exempt key wait for a code where a policy asks for one", async () => {
    const of = await fundedCustomer(api);
    const rules = { code: { mode: "above" as const, usd: "10" } };
    await putRules(of.session, { scope: "project", baseVersion: 0, rules });
    expect((await sendUsdc(of, "11")).subStatus).toBe("awaiting_approval");
    expect((await sendUsdc(of, "10")).subStatus).toBe("prepared");
  });
});

describe("the signer", () => {
  /** An operation that is stored and never begun: its job is taken away in the same statement. */
  const forge = async (of: FundedCustomer, change: (id: string) => Promise<unknown>) => {
    const source = await sendUsdc(of, "1");
    await ended(source.operationId);
    const { request, quoted, ...operation } = await prisma.operation.findUniqueOrThrow({
      where: { id: source.operationId },
    });
    const [leg] = await prisma.operationLeg.findMany({ where: { operationId: operation.id } });
    if (leg === undefined) throw new Error("The operation has no leg.");
    const id = `op_${crypto.randomUUID()}`;
    const now = new Date();
    const json = { request: request as object, quoted: quoted as object };
    const base = {
      ...operation,
      ...json,
      id,
      status: "pending",
      subStatus: "prepared",
      failure: undefined,
    };
    await prisma.operation.create({
      data: { ...base, gasWaits: undefined, acceptedAt: now, createdAt: now, updatedAt: now },
    });
    const {
      routeLeg,
      gas,
      walletId,
      walletAddress,
      kind,
      via,
      sourceChainId,
      destChainId,
      amountBase,
    } = leg;
    await prisma.operationLeg.create({
      data: {
        ...{ walletId, walletAddress, kind, via, sourceChainId, destChainId, amountBase },
        ...{ id: `leg_${crypto.randomUUID()}`, operationId: id, position: 0, state: "queued" },
        projectId: operation.projectId,
        ...{ routeLeg: routeLeg as object, gas: gas as object, fromBlock: 0n, updatedAt: now },
      },
    });
    await change(id);
    await prisma.job.create({ data: { id, queue: "operation", runAt: now } });
    return { id, end: await ended(id) };
  };

  let of: FundedCustomer;
  beforeAll(async () => {
    of = await fundedCustomer(api);
  }, 120_000);

  test.each([
    [
      "no evaluation",
      (id: string) => prisma.operation.update({ where: { id }, data: { evaluationId: null } }),
    ],
    ["the evaluation of another operation", () => Promise.resolve()],
    [
      "an evaluation that does not exist",
      (id: string) =>
        prisma.operation.update({ where: { id }, data: { evaluationId: "evl_nothing" } }),
    ],
  ])(
    "never signs an operation that was written into the database with %s",
    async (_what, change) => {
      const { id, end } = await forge(of, change);
      expect(end).toMatchObject({ status: "failed", failure: { code: "policy_violation" } });
      const legs = await prisma.operationLeg.findMany({ where: { operationId: id } });
      expect(legs.map(({ userOpHash }) => userOpHash)).toEqual([null]);
    },
    120_000,
  );

  test("never signs an operation with an evaluation that was made of other parameters", async () => {
    const { id, end } = await forge(of, async (forged) => {
      const { projectId } = of;
      // The best that somebody with the database can do without the evaluation's parameters: point
      // a real one at the forged row.
      const real = await prisma.policyEvaluation.findFirstOrThrow({
        where: { projectId, subjectType: "operation" },
      });
      const row = { ...real, id: `evl_${forged}`, subjectId: forged };
      const json = { facts: {}, policies: [], rules: [] };
      await prisma.policyEvaluation.create({ data: { ...row, ...json } });
      await prisma.operation.update({ where: { id: forged }, data: { evaluationId: row.id } });
    });
    expect(end).toMatchObject({ status: "failed", failure: { code: "policy_violation" } });
    expect(
      await prisma.operationLeg.count({
        where: { operationId: id, userOpHash: { not: null } },
      }),
    ).toBe(0);
  }, 120_000);

  test("never signs an operation whose evaluation has the right digest and was not made by the service", async () => {
    const { id, end } = await forge(of, async (forged) => {
      const { projectId } = of;
      const real = await prisma.policyEvaluation.findFirstOrThrow({
        where: { projectId, subjectType: "operation" },
      });
      const operation = await api.services.operations.get(projectId, forged);
      const digest = parametersDigest(operation, operation.legs);
      const json = { facts: {}, policies: [], rules: [] };
      const row = { ...real, ...json, id: `evl_${forged}`, subjectId: forged, digest };
      await prisma.policyEvaluation.create({ data: row });
      await prisma.operation.update({ where: { id: forged }, data: { evaluationId: row.id } });
    });
    expect(end).toMatchObject({ status: "failed", failure: { code: "policy_violation" } });
    expect(
      await prisma.operationLeg.count({
        where: { operationId: id, userOpHash: { not: null } },
      }),
    ).toBe(0);
  }, 120_000);
});

describe("payouts to wallets", () => {
  const pay = (of: FundedCustomer, recipients: readonly `0x${string}`[], amount: string) =>
    of.client.call(createWalletsPayout, {
      body: {
        chainId: CHAIN,
        transfers: recipients.map((address) => ({ address, amount, token: "USDC" })),
      },
    });

  test("count in the caps as a whole, and a payout within them is paid", async () => {
    const of = await fundedCustomer(api);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { perOperation: { usd: "50" } },
    });
    const recipients = Array.from({ length: 3 }, () => testAccount().address);
    await expect(pay(of, recipients, "20")).rejects.toMatchObject({ code: "policy_violation" });
    const { payoutId } = await pay(of, recipients, "10");
    if (payoutId === null) throw new Error("The payout was not stored.");
    await vi.waitFor(async () => {
      expect(await of.client.call(getPayout, { params: { id: payoutId } })).toMatchObject({
        status: "completed",
      });
    }, WAIT);
    const evaluated = await prisma.policyEvaluation.count({
      where: { projectId: of.projectId, subjectId: payoutId },
    });
    expect(evaluated).toBe(1);
    const { evaluationId } = await of.client.call(getPayout, { params: { id: payoutId } });
    expect(evaluationId).toMatch(/^evl_/);
  }, 120_000);

  test("pay approved contacts alone where the list is on", async () => {
    const of = await fundedCustomer(api);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { recipients: "approved_contacts" },
    });
    await expect(pay(of, [testAccount().address], "1")).rejects.toMatchObject({
      code: "policy_violation",
      body: { details: [{ path: "transfers", code: "recipients" }] },
    });
    const { address } = testAccount();
    const contact = await of.session.client.call(createContact, {
      body: { name: "Ada", address },
    });
    await expect(pay(of, [address], "1")).rejects.toMatchObject({ code: "policy_violation" });
    await withApproval(of.session.account, (approval) =>
      of.session.client.call(approveContact, {
        params: { id: contact.id },
        body: approval ? { approval } : {},
      }),
    );
    expect((await pay(of, [address], "1")).status).toBe("pending");
  }, 120_000);
});

test("money that is brought for a payout counts once, and its tokens and chains are bounded too", async () => {
  const there = 31338;
  const of = await fundedCustomer(api);
  await fund(of.session.client, of.treasury, { chainId: there, token: "USDC", amount: "200" });
  const pay = (amount: string) =>
    of.client.call(createWalletsPayout, {
      body: {
        ...{ chainId: CHAIN, fundFrom: [{ chainId: there, token: "USDC" }] },
        transfers: [{ address: testAccount().address, amount, token: "USDC" }],
      },
    });
  const tokens = [{ chainId: CHAIN, token: "USDC" }];
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { tokens, perDay: { usd: "1150" } },
  });
  await expect(pay("1100")).rejects.toMatchObject({
    code: "policy_violation",
    body: { details: [{ path: "fundFrom", code: "tokens" }] },
  });
  await putRules(of.session, {
    scope: "project",
    baseVersion: 1,
    rules: { perDay: { usd: "1150" } },
  });
  const { payoutId, subStatus } = await pay("1100");
  expect({ payoutId, subStatus }).toMatchObject({ subStatus: "prepared" });
  const usage = await prisma.policyUsage.findMany({
    where: { projectId: of.projectId, unit: "usd" },
  });
  expect(usage.map(({ spent }) => Number(spent))).toEqual([1100]);
  const kinds = await prisma.policyEvaluation.findMany({
    where: { projectId: of.projectId, decision: "allow" },
  });
  expect(kinds.map(({ facts }) => (facts as { kind: string }).kind).sort()).toEqual([
    "payout_funding",
    "wallets_payout",
  ]);
}, 120_000);
