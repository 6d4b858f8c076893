/**
 * A payout in coins, of which a part was paid before the backup, and another part after it, by an
 * attempt that followed one without effect.
 */
import { parseEther } from "viem";
import { expect, test, vi } from "vitest";
import type { Services } from "@/lib/composition";
import { decidePayoutDoubt } from "@/lib/contracts/payout-doubts";
import { getPayout } from "@/lib/contracts/payouts";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { waitUntilFinal } from "@/lib/dev/testing/journey";
import { newContractOn, pay, row } from "@/lib/dev/testing/payout-requests";
import { DRILL_REQUEST, DRILL_WAIT, restoreDrill } from "@/lib/dev/testing/restore-drill";
import { nobody, rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";
import { startWorker } from "@/lib/workers/runner";

const LATER_SECONDS = 1_000;
const CONFIRMATIONS = 2;
/** At first the treasury has enough only for the first batch. */
const [FIRST_BASE, SHARE, LAST_BASE] = [
  parseEther("0.25"),
  parseEther("0.5"),
  parseEther("0.75"),
];
const ENOUGH = parseEther("20");

const drill = await restoreDrill();
const { postgres, one, api } = drill;
const { client: chain } = one;

const paidBefore = rowsOf("coins paid before", 2, FIRST_BASE);
const paidAfter = rowsOf("coins paid after", 2, LAST_BASE);
const [first, last] = ["first beside a refusal", "last beside a refusal"].map(nobody) as [
  `0x${string}`,
  `0x${string}`,
];
const { address: refusing } = await newContractOn(one.rpcUrl);
const beside = [first, refusing, last].map((recipient) => ({ recipient, amountBase: SHARE }));

const batchesOf = ({ database }: Services, payoutId: string) =>
  database.prisma.walletPayoutBatch.findMany({
    where: { payoutId },
    orderBy: { number: "asc" },
  });

/** The first batch is paid; the treasury has no coins for the others. */
const payFirstBatch = async () => {
  const customer = await fundedCustomer(api);
  const worker = startWorker(api.services, { searchesDeposits: false });
  // The first operation deploys the account, for which the other batches would wait.
  const { operationId } = await sendUsdc(customer, "1");
  await waitUntilFinal(customer.client, operationId);
  const total = paidBefore.reduce((sum, { amountBase }) => sum + amountBase, 0n);
  await chain.setBalance({ address: customer.treasury, value: total });
  const batches = [paidBefore, beside, paidAfter].map((rows) => ({ token: "native", rows }));
  const { id } = await seedPayout(api.services, customer, {
    chainId: one.chainId,
    batches,
    withJob: true,
  });
  await vi.waitFor(async () => {
    const found = await batchesOf(api.services, id);
    expect(found.map(({ state, blockedSince }) => [state, blockedSince !== null])).toEqual([
      ["paid", false],
      ["queued", true],
      ["queued", true],
    ]);
  }, DRILL_WAIT);
  await worker.stop();
  return { customer, payoutId: id };
};

/**
 * Funds the treasury, and moves the chain's time past the expiry of the first signed attempts, so
 * that the second attempts pay.
 */
const payTheRest = async (treasury: `0x${string}`, payoutId: string): Promise<void> => {
  await chain.setBalance({ address: treasury, value: ENOUGH });
  await one.hold();
  await chain.setAutomine(false);
  const worker = startWorker(api.services, { searchesDeposits: false });
  await vi.waitFor(async () => {
    const [, ...others] = await batchesOf(api.services, payoutId);
    expect(others.map(({ state, attempt }) => [state, attempt])).toEqual([
      ["sent", 1],
      ["sent", 1],
    ]);
  }, DRILL_WAIT);
  await chain.increaseTime({ seconds: LATER_SECONDS });
  await chain.mine({ blocks: CONFIRMATIONS + 1 });
  await chain.setAutomine(true);
  one.flow();
  await drill.payoutEnds(api.services, payoutId, "partially_completed");
  await worker.stop();
  const [, ...others] = await batchesOf(api.services, payoutId);
  expect(others.map(({ state, attempt }) => [state, attempt])).toEqual([
    ["paid", 2],
    ["paid", 2],
  ]);
};

const coinsOf = (owners: readonly `0x${string}`[]): Promise<bigint[]> =>
  Promise.all(owners.map((owner) => drill.balanceOf("native", owner)));

/** Checks that each recipient has its amount once, and the refusing one nothing. */
const expectPaidOnce = async (treasury: `0x${string}`): Promise<void> => {
  const rows = [...paidBefore, ...paidAfter];
  expect(await coinsOf(rows.map(({ recipient }) => recipient))).toEqual(
    rows.map(({ amountBase }) => amountBase),
  );
  expect(await coinsOf([first, refusing, last])).toEqual([SHARE, 0n, SHARE]);
  const spent = paidAfter.reduce((sum, { amountBase }) => sum + amountBase, 2n * SHARE);
  expect(await drill.balanceOf("native", treasury)).toBe(ENOUGH - spent);
};

test("a payout in coins that was half paid at the backup pays nobody twice, and ends as the chain shows", async () => {
  const { customer, payoutId } = await payFirstBatch();
  const backup = await postgres.backUp();
  await payTheRest(customer.treasury, payoutId);
  await expectPaidOnce(customer.treasury);

  const services = await drill.beginElsewhere(backup);
  const { reconciliation } = services;
  await drill.letTimePass();
  const report = await reconciliation.reconcile(DRILL_REQUEST);
  // The batch is adopted with all of its rows. The other one was paid without a row that the
  // database still wants to pay.
  expect(report.chains.flatMap(({ adopted }) => adopted)).toEqual([`batch 2 of ${payoutId}`]);
  const coin = { token: "native", symbol: "ETH", amount: "0.5" };
  expect(report.unknown.map(({ payments }) => payments)).toEqual([
    [
      { to: first, ...coin },
      { to: last, ...coin },
    ],
  ]);
  const accept = report.unknown.map(({ hash }) => hash);
  expect(await reconciliation.reconcile({ ...DRILL_REQUEST, accept })).toMatchObject({
    isAllowed: true,
  });

  await drill.payoutEnds(services, payoutId, "partially_completed");
  await expectPaidOnce(customer.treasury);
  const { client } = customer.session;
  const read = () => client.call(getPayout, { params: { id: payoutId } });
  expect(await read()).toMatchObject({
    doubts: [{ batch: 1, rows: 3, amount: "1.5" }],
    may: { retry: false },
  });
  // The payments that the database lost were accepted, so a new request cannot repeat them either.
  const again = pay(customer.client, [row(first, "0.5", { token: "native" })]);
  await expect(again).rejects.toMatchObject({ code: "paid_already" });

  const decided = await client.call(decidePayoutDoubt, {
    params: { id: payoutId },
    body: { batch: 1, decision: "by_chain" },
  });
  expect(decided).toMatchObject({
    status: "partially_completed",
    doubts: [],
    items: { paid: 6, failed: 1 },
  });
  await expectPaidOnce(customer.treasury);
}, 300_000);
