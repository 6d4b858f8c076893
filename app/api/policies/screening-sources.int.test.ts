import { describe, expect, test, vi } from "vitest";
import { createWalletsPayout, getPayout } from "@/lib/contracts/payouts";
import { executeSwap, prepareSwap, requestOtp } from "@/lib/contracts/swap";
import { createTransfer, swapAndTransfer } from "@/lib/contracts/transfers";
import { createFakeScreening } from "@/lib/trust/ports/fakes/screening";
import { testApi } from "@/lib/dev/testing/api";
import { followUntil } from "@/lib/dev/testing/deposits";
import { testAccount } from "@/lib/dev/testing/factories";
import { codesOf, fund, newCustomer } from "@/lib/dev/testing/journey";
import { putRules } from "@/lib/dev/testing/policies";
import { startWorker } from "@/lib/workers/runner";

const CHAIN = 31337;
const WAIT = { timeout: 60_000, interval: 200 };
const source = createFakeScreening();
const api = await testApi({ overrides: { screening: [source] } });
const { prisma } = api.services.database;

const { deposits } = api.services;
await deposits.follow(CHAIN);

/**
 * Its money is searched for and final, so that a policy which asks for a clear verdict lets it
 * move.
 */
const funded = async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "1000",
  });
  await followUntil(deposits, CHAIN, async () => {
    const rows = await prisma.deposit.findMany({ where: { walletId: customer.treasuryId } });
    expect(rows).toMatchObject([{ state: "credited" }]);
  });
  const { id: keyId, client } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "100000",
  });
  const from = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, fromToken: "USDC" };
  const send = () =>
    client.call(swapAndTransfer, {
      body: {
        ...from,
        toChainId: CHAIN,
        toToken: "USDC",
        amount: "1",
        recipient: testAccount().address,
      },
    });
  return { ...customer, keyId, client, send };
};

test("a source that does not answer stops money only where a policy asks for a clear verdict", async () => {
  const of = await funded();
  source.breakDown();
  try {
    const { operationId } = await of.send();
    const kept = await prisma.screeningRecord.findFirstOrThrow({
      where: { subjectId: operationId },
    });
    expect(kept.sources).toMatchObject([{ state: "unavailable" }]);
    await putRules(of.session, {
      scope: "project",
      baseVersion: 0,
      rules: { screening: "require_clear" },
    });
    await expect(of.send()).rejects.toMatchObject({ code: "screening_refused" });
  } finally {
    source.recover();
  }
  expect((await of.send()).operationId).toMatch(/^op_/);
});

/**
 * A movement that was accepted is not signed while the source is away, and is carried on once the
 * source answers.
 */
const waitsForSource = async (
  isUnsigned: () => Promise<void>,
  isDone: () => Promise<void>,
): Promise<void> => {
  source.breakDown();
  const before = source.calls;
  const worker = startWorker(api.services);
  try {
    await vi.waitFor(() => expect(source.calls).toBeGreaterThan(before + 2), WAIT);
    await isUnsigned();
    source.recover();
    await vi.waitFor(isDone, WAIT);
  } finally {
    source.recover();
    await worker.stop();
  }
};

describe("a policy of a key that asks for a clear verdict", () => {
  const ofStrictKey = async () => {
    const of = await funded();
    const rules = { screening: "require_clear" as const };
    await putRules(of.session, { scope: "key", subjectId: of.keyId, baseVersion: 0, rules });
    return of;
  };

  test("lets the key's payout wait for the source before it is signed", async () => {
    const of = await ofStrictKey();
    const transfers = [{ address: testAccount().address, amount: "1", token: "USDC" }];
    const { payoutId } = await of.client.call(createWalletsPayout, {
      body: { chainId: CHAIN, transfers },
    });
    const params = { id: payoutId ?? "" };
    await waitsForSource(
      async () => {
        const batches = await prisma.walletPayoutBatch.findMany({
          where: { payoutId: params.id },
        });
        expect(batches.map(({ userOpHash }) => userOpHash)).toEqual([null]);
      },
      async () =>
        expect((await of.client.call(getPayout, { params })).status).toBe("completed"),
    );
  }, 180_000);

  test("lets a transfer wait that the key asked for and a person carries out", async () => {
    const of = await ofStrictKey();
    const { client } = of.session;
    const at = {
      fromWalletId: of.treasuryId,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      token: "USDC",
    };
    const body = { ...at, amount: "1", toAddress: testAccount().address };
    const { transferId } = await of.client.call(createTransfer, { body });
    const seen = await codesOf(api, of);
    await client.call(requestOtp, { body: { transferId } });
    const otp = await api.readCode(of.email, seen);
    await client.call(prepareSwap, { body: { transferId, otp } });
    const { operationId: id } = await client.call(executeSwap, { body: { transferId } });
    await waitsForSource(
      async () => {
        const legs = await prisma.operationLeg.findMany({ where: { operationId: id } });
        expect(legs.map(({ userOpHash }) => userOpHash)).toEqual([null]);
      },
      async () =>
        expect(await prisma.operation.findUniqueOrThrow({ where: { id } })).toMatchObject({
          status: "completed",
        }),
    );
  }, 180_000);
});

test("what was accepted waits for the source before it is signed, and then goes on", async () => {
  const of = await funded();
  await putRules(of.session, {
    scope: "project",
    baseVersion: 0,
    rules: { screening: "require_clear" },
  });
  const { operationId } = await of.send();
  const { payoutId } = await of.client.call(createWalletsPayout, {
    body: {
      chainId: CHAIN,
      transfers: [{ address: testAccount().address, amount: "1", token: "USDC" }],
    },
  });
  source.breakDown();
  const before = source.calls;
  const worker = startWorker(api.services);
  try {
    await vi.waitFor(() => expect(source.calls).toBeGreaterThan(before + 2), WAIT);
    const legs = await prisma.operationLeg.findMany({ where: { operationId } });
    expect(legs.map(({ state, userOpHash }) => [state, userOpHash])).toEqual([
      ["queued", null],
    ]);
    source.recover();
    await vi.waitFor(async () => {
      const operation = await prisma.operation.findUniqueOrThrow({
        where: { id: operationId },
      });
      const payout = await of.client.call(getPayout, { params: { id: payoutId ?? "" } });
      expect([operation.status, payout.status]).toEqual(["completed", "completed"]);
    }, WAIT);
  } finally {
    source.recover();
    await worker.stop();
  }
}, 180_000);
