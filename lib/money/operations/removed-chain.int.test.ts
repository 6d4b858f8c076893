import { beforeAll, describe, expect, test } from "vitest";
import { createServices, setServices, type Services } from "@/lib/composition";
import { getOperation, listOperations } from "@/lib/contracts/operations";
import { getPayout, listPayoutItems, listPayouts } from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { getTransfer, listTransfers } from "@/lib/contracts/transfers";
import { toStored } from "@/lib/platform/db/codecs";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
  type OperationAnswer,
} from "@/lib/dev/testing/journey";
import { rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";

const [KEPT, REMOVED] = [31337, 31338];

const api = await testApi({ worker: true });
const { prisma } = api.services.database;
let customer: Customer;
/**
 * The older operation goes to the chain that is removed from the configuration; the newer one stays
 * on the other chain.
 */
let [older, newer]: readonly [OperationAnswer | null, OperationAnswer | null] = [null, null];
let payoutId = "";

const sent = async (toChainId: number): Promise<OperationAnswer> => {
  const { client } = customer.session;
  const from = {
    fromWalletId: customer.treasuryId,
    fromChainId: toChainId === KEPT ? KEPT : REMOVED,
    amount: "10",
  };
  const { transferId } = await prepareTransfer(api, customer, {
    ...from,
    toChainId,
    token: "USDC",
    toAddress: testAccount().address,
  });
  return waitUntilFinal(
    client,
    (await client.call(executeSwap, { body: { transferId } })).operationId,
  );
};

const both = (): readonly [OperationAnswer, OperationAnswer] => {
  if (older === null || newer === null) throw new Error("The operations were not made.");
  return [older, newer];
};

beforeAll(async () => {
  customer = await newCustomer(api);
  for (const chainId of [KEPT, REMOVED])
    await fund(customer.session.client, customer.treasury, {
      chainId,
      token: "USDC",
      amount: "20",
    });
  [older, newer] = [await sent(REMOVED), await sent(KEPT)];
}, 180_000);

const listed = async (): Promise<OperationAnswer[]> =>
  (await customer.session.client.call(listOperations, { query: {} })).data;

const exported = async (): Promise<string> => {
  const headers = { authorization: `Bearer ${customer.session.accessToken}` };
  const answer = await api.fetch("/operations/export", { headers });
  expect(answer.status).toBe(200);
  return answer.text();
};

describe("what happened on a chain that was taken out of the configuration", () => {
  let without: Services | null = null;
  beforeAll(async () => {
    ({ id: payoutId } = await seedPayout(api.services, customer, {
      chainId: REMOVED,
      batches: [{ token: "USDC", rows: rowsOf("removed", 2) }],
    }));
    const token = api.services.registry.resolveToken(REMOVED, "USDC");
    const totals = toStored([{ token, amountBase: 2_001n, rows: 2 }]);
    await prisma.walletPayout.updateMany({ where: { payoutId }, data: { totals } });
    await prisma.walletPayoutBatch.updateMany({
      where: { payoutId },
      data: { state: "paid", txHash: `0x${"ab".repeat(32)}`, blockNumber: 5, confirmations: 2 },
    });
    const { config } = api.services;
    without = createServices({
      ...config,
      chains: config.chains.filter(({ id }) => id !== REMOVED),
    });
    setServices(without);
    return async () => {
      setServices(api.services);
      await without?.close();
    };
  });

  test("is in the list, on its page and in the CSV file, with what was stored", async () => {
    const [gone, kept] = both();
    const [first, second] = await listed();
    expect(first?.operationId).toBe(kept.operationId);
    expect(second).toMatchObject({
      operationId: gone.operationId,
      status: "completed",
      actual: gone.actual,
      outcome: { holds: gone.outcome.holds, nextAction: "Nothing to do: everything arrived." },
    });
    const [leg] = second?.legs ?? [];
    const [before] = gone.legs;
    expect(leg).toMatchObject({
      txHash: before?.txHash,
      blockNumber: before?.blockNumber,
      explorerUrl: null,
    });
    expect([leg?.confirmations, leg?.confirmationsNeeded]).toEqual([
      before?.confirmations,
      before?.confirmations,
    ]);
    const params = { id: gone.operationId };
    expect(await customer.session.client.call(getOperation, { params })).toEqual(second);
    expect(await exported()).toContain(`${gone.operationId},transfer,completed`);
  });

  test("is among transfers", async () => {
    const { client } = customer.session;
    const { data } = await client.call(listTransfers, { query: {} });
    expect(data.map(({ operationId }) => operationId)).toEqual([
      both()[1].operationId,
      both()[0].operationId,
    ]);
    const id = data[1]?.transferId ?? "";
    expect(await client.call(getTransfer, { params: { id } })).toMatchObject({
      status: "completed",
    });
  });

  test("is among payouts, with its rows", async () => {
    const { client } = customer.session;
    const { data } = await client.call(listPayouts, { query: {} });
    expect(data.map((payout) => payout.payoutId)).toEqual([payoutId]);
    expect(await client.call(getPayout, { params: { id: payoutId } })).toMatchObject({
      chainId: REMOVED,
    });
    const items = await client.call(listPayoutItems, { params: { id: payoutId }, query: {} });
    expect(items.data).toMatchObject([
      { confirmations: { have: 2, need: 2 } },
      { confirmations: { have: 2, need: 2 } },
    ]);
  });
});
