import { expect, test, vi } from "vitest";
import type { Services } from "@/lib/composition";
import { getOperation } from "@/lib/contracts/operations";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { waitUntilFinal } from "@/lib/dev/testing/journey";
import {
  DRILL_REQUEST as REQUEST,
  DRILL_WAIT as WAIT,
  restoreDrill,
} from "@/lib/dev/testing/restore-drill";
import { rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";
import { startWorker } from "@/lib/workers/runner";

const DECIMALS = 1_000_000n;

const drill = await restoreDrill();
const { postgres, one, usdc, api, sentByExecutor, letTimePass, beginElsewhere } = drill;

const usdcOf = (owner: `0x${string}`): Promise<bigint> => drill.balanceOf(usdc, owner);
const completed = (services: Services, payoutId: string): Promise<void> =>
  drill.payoutEnds(services, payoutId, "completed");

const ROWS = rowsOf("drill", 4);

/**
 * Money in progress at the time of a backup (accepted but not signed), and a request after it,
 * which the backup does not contain. All of it is paid.
 */
const payAroundBackup = async () => {
  const customer = await fundedCustomer(api);
  const [queued, lost] = [testAccount().address, testAccount().address];
  const { operationId } = await sendUsdc(customer, "10", queued);
  const { id: payoutId } = await seedPayout(api.services, customer, {
    chainId: one.chainId,
    batches: [{ token: "USDC", rows: ROWS }],
    withJob: true,
  });
  const backup = await postgres.backUp();
  const worker = startWorker(api.services, { searchesDeposits: false });
  const body = {
    ...{ fromWalletId: customer.treasuryId, fromChainId: one.chainId, toChainId: one.chainId },
    ...{ fromToken: "USDC", toToken: "USDC", amount: "25", recipient: lost },
  };
  const idempotencyKey = crypto.randomUUID();
  const pay = () => customer.client.call(swapAndTransfer, { body, idempotencyKey });
  const answered = await pay();
  await Promise.all(
    [operationId, answered.operationId].map((id) => waitUntilFinal(customer.client, id)),
  );
  await completed(api.services, payoutId);
  await worker.stop();
  expect(await usdcOf(lost)).toBe(25n * DECIMALS);
  return { customer, backup, operationId, payoutId, queued, lost, pay };
};

type Paid = Awaited<ReturnType<typeof payAroundBackup>>;

/**
 * Checks that every open job has had its turn, nothing was signed, sent, accepted or failed, and
 * reads still work.
 */
const expectNothingSigned = async (
  services: Services,
  { customer, operationId, payoutId, lost, pay }: Paid,
) => {
  const { database, signing, transactions } = services;
  await vi.waitFor(async () => {
    const jobs = await database.prisma.job.findMany({
      where: { id: { in: [operationId, payoutId] } },
    });
    expect(jobs.map(({ attempts, lockedBy }) => attempts > 0 && lockedBy === null)).toEqual([
      true,
      true,
    ]);
  }, WAIT);
  expect(await signing.state()).toMatchObject({ isAllowed: false });
  expect(
    (await customer.client.call(getOperation, { params: { id: operationId } })).status,
  ).toBe("pending");
  await expect(pay()).rejects.toMatchObject({ status: 503, code: "signing_off" });
  const own = {
    chainId: one.chainId,
    keyId: "executor",
    purpose: "drill",
    to: lost,
    data: "0x",
    value: 1n,
  } as const;
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n };
  const sent = transactions.send({ ...own, gas: 21_000n, fees });
  await expect(sent).rejects.toMatchObject({ code: "signing_off" });
};

test("after a restore nothing is signed before the chains were compared, and nobody is paid twice", async () => {
  const paid = await payAroundBackup();
  const { customer, operationId, payoutId, lost, pay } = paid;
  const sentBefore = await sentByExecutor();
  const services = await beginElsewhere(paid.backup);
  const { reconciliation, signing } = services;
  await expectNothingSigned(services, paid);
  expect(await sentByExecutor()).toBe(sentBefore);

  // Operations that were signed before may still be executed, so the first comparison does not
  // allow signing.
  expect(await reconciliation.reconcile(REQUEST)).toMatchObject({
    wasOff: true,
    isAllowed: false,
  });
  await letTimePass();
  const report = await reconciliation.reconcile(REQUEST);
  expect(report).toMatchObject({ isAllowed: false, faults: [] });
  expect(report.unknown.map(({ projectId, payments }) => ({ projectId, payments }))).toEqual([
    {
      projectId: customer.projectId,
      payments: [{ to: lost, token: usdc, symbol: "USDC", amount: "25" }],
    },
  ]);
  expect((await signing.state()).isAllowed).toBe(false);

  const hash = report.unknown[0]?.hash ?? "";
  const accepted = await reconciliation.reconcile({ ...REQUEST, accept: [hash] });
  expect(accepted).toMatchObject({ isAllowed: true, unknown: [] });
  await vi.waitFor(async () => expect((await signing.state()).isAllowed).toBe(true), WAIT);

  // The work in progress ends as it was paid, and the repeated request names a recipient that was
  // already paid.
  expect((await waitUntilFinal(customer.client, operationId)).status).toBe("completed");
  await completed(services, payoutId);
  await expect(pay()).rejects.toMatchObject({ status: 409, code: "paid_already" });

  // Another recipient is paid with the executor's next nonce.
  const later = testAccount().address;
  const { operationId: next } = await sendUsdc(customer, "5", later);
  expect((await waitUntilFinal(customer.client, next)).status).toBe("completed");
  expect(await sentByExecutor()).toBe(sentBefore + 1);
  const balances = await Promise.all([paid.queued, lost, later].map(usdcOf));
  expect(balances).toEqual([10n, 25n, 5n].map((amount) => amount * DECIMALS));
  for (const { recipient, amountBase } of ROWS)
    expect(await usdcOf(recipient)).toBe(amountBase);

  // After a release by the operator the recipient can be paid again.
  expect(await reconciliation.releaseMoves([hash], REQUEST.by, "another invoice")).toEqual([
    hash,
  ]);
  const again = await vi.waitFor(pay, WAIT);
  expect((await waitUntilFinal(customer.client, again.operationId)).status).toBe("completed");
  expect(await usdcOf(lost)).toBe(50n * DECIMALS);
}, 180_000);
