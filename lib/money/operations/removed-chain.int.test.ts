import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { createServices, setServices, type Services } from "@/lib/composition";
import { getOperation, listOperations, retryOperation } from "@/lib/contracts/operations";
import { getPayout, listPayoutItems, listPayouts } from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { getTransfer, listTransfers } from "@/lib/contracts/transfers";
import { toStored } from "@/lib/platform/db/codecs";
import { asOwner } from "@/lib/dev/testing/database";
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

/** The stored form of a leg whose source its operation does not have. */
const strictRoute = {
  provider: "onchain",
  kind: "transfer",
  expectedOutBase: 10_000_000n,
  minOutBase: 10_000_000n,
  steps: [],
  fees: [],
  estimatedSeconds: 1,
  priceImpactBps: 0,
  plan: null,
};

describe("a record in a form that this version cannot read", () => {
  const restore: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    // A later version may know more states and more ways to reach the chain; its migration would
    // replace these constraints.
    for (const column of ["state", "via"])
      await asOwner(
        api.services.config.databaseUrl,
        `ALTER TABLE operation_leg DROP CONSTRAINT operation_leg_${column}_check`,
      );
  });
  afterEach(async () => {
    for (const undo of restore.splice(0)) await undo();
  });

  const changeLeg = async (change: object): Promise<void> => {
    const { operationId } = both()[0];
    const leg = await prisma.operationLeg.findFirstOrThrow({ where: { operationId } });
    await prisma.operationLeg.update({ where: { id: leg.id }, data: change });
    const { routeLeg, state, via } = leg;
    restore.push(() =>
      prisma.operationLeg.update({
        where: { id: leg.id },
        data: { routeLeg: routeLeg ?? {}, state, via },
      }),
    );
  };

  test("whose leg names a provider that is not configured is shown like any other", async () => {
    const [gone] = both();
    const { routeLeg } = await prisma.operationLeg.findFirstOrThrow({
      where: { operationId: gone.operationId },
    });
    await changeLeg({ routeLeg: { ...(routeLeg as object), provider: "elsewhere" } });
    expect((await listed())[1]).toEqual({
      ...gone,
      legs: [{ ...gone.legs[0], provider: "elsewhere" }],
    });
  });

  test.each([
    ["route", { routeLeg: { provider: "elsewhere", way: [1, 2] } }],
    [
      "route of a kind",
      { routeLeg: { provider: "elsewhere", kind: "teleport", sourceIndex: 7, minOutBase: "x" } },
    ],
    ["source", { routeLeg: toStored({ ...strictRoute, sourceIndex: 7 }) }],
    ["state", { state: "beamed" }],
    ["way of leaving the wallet", { via: "telepathy" }],
  ])(
    "a leg with an unknown %s is shown with what can be read, and nothing can be asked of it",
    async (_, change) => {
      const [gone, kept] = both();
      await changeLeg(change);
      const [first, second] = await listed();
      expect(first).toEqual(kept);
      expect(second).toMatchObject({
        operationId: gone.operationId,
        status: "completed",
        quoted: gone.quoted,
        may: { cancel: false, retry: false, approve: false },
        legs: [
          {
            id: gone.legs[0]?.id,
            kind: "transfer",
            sent: gone.legs[0]?.sent,
            minimum: gone.legs[0]?.minimum,
          },
        ],
      });
      const { client } = customer.session;
      const params = { id: gone.operationId };
      expect(await client.call(getOperation, { params })).toEqual(second);
      await expect(client.call(retryOperation, { params })).rejects.toMatchObject({
        code: "invalid_state",
      });
      expect(await exported()).toContain(gone.operationId);
      expect((await client.call(listTransfers, { query: {} })).data).toHaveLength(2);
    },
  );

  test("a quote whose route cannot be read hides no transfer", async () => {
    const { operationId } = both()[0];
    const quote = await prisma.quote.findFirstOrThrow({ where: { operationId } });
    await prisma.quote.update({ where: { id: quote.id }, data: { route: { ways: [] } } });
    restore.push(() =>
      prisma.quote.update({ where: { id: quote.id }, data: { route: quote.route ?? {} } }),
    );
    expect((await customer.session.client.call(listTransfers, { query: {} })).data).toHaveLength(2);
  });

  test("an operation of which nothing can be shown takes no other one out of the list, and pages go on after it", async () => {
    const [gone, kept] = both();
    const { request } = await prisma.operation.findUniqueOrThrow({
      where: { id: kept.operationId },
    });
    await prisma.operation.update({
      where: { id: kept.operationId },
      data: { request: { wishes: 3 } },
    });
    restore.push(() =>
      prisma.operation.update({
        where: { id: kept.operationId },
        data: { request: request ?? {} },
      }),
    );
    expect(await listed()).toEqual([gone]);
    const { client } = customer.session;
    const page = await client.call(listOperations, { query: { limit: 1 } });
    expect(page.data).toEqual([]);
    const next = await client.call(listOperations, {
      query: { limit: 1, cursor: page.nextCursor ?? "" },
    });
    expect(next.data).toEqual([gone]);
    expect(await exported()).toContain(gone.operationId);
  });
});

describe("an operation whose own columns this version cannot read", () => {
  const restore: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    // A later version may know more states; its migration would replace this constraint.
    await asOwner(
      api.services.config.databaseUrl,
      "ALTER TABLE operation DROP CONSTRAINT operation_status_check",
    );
  });
  afterEach(async () => {
    for (const undo of restore.splice(0)) await undo();
  });

  const changeOperation = async (change: object): Promise<void> => {
    const { operationId: id } = both()[0];
    const before = await prisma.operation.findUniqueOrThrow({ where: { id } });
    await prisma.operation.update({ where: { id }, data: change });
    const { request, quoted, status, subStatus, failure } = before;
    const data = { request: request ?? {}, quoted: quoted ?? {}, status, subStatus };
    restore.push(() => prisma.operation.update({ where: { id }, data }));
    expect(failure).toBeNull();
  };

  test.each([
    ["request", { request: { wishes: 3 } }],
    [
      "request of another form",
      { request: { sources: [{ owner: 7 }], destination: { token: "USDC" } } },
    ],
    ["request that is no object", { request: 3 }],
    ["quoted amount", { quoted: { hopes: 1 } }],
    ["status", { status: "beamed" }],
    ["sub-status", { subStatus: "beaming" }],
  ])(
    "an operation with an unknown %s is on its page with what can be read, and nothing can be asked of it",
    async (_, change) => {
      const [gone] = both();
      await changeOperation(change);
      const { client } = customer.session;
      const params = { id: gone.operationId };
      const shown = await client.call(getOperation, { params });
      const [leg] = gone.legs;
      expect(shown).toMatchObject({
        operationId: gone.operationId,
        createdAt: gone.createdAt,
        may: { cancel: false, retry: false, approve: false },
        failure: { code: "not_readable", retryable: false },
        legs: [
          { id: leg?.id, txHash: leg?.txHash, walletAddress: leg?.walletAddress, sent: leg?.sent },
        ],
      });
      expect(shown.outcome.nextAction).toContain("another version");
      await expect(client.call(retryOperation, { params })).rejects.toBeDefined();
      const other = await api.signIn();
      await expect(other.client.call(getOperation, { params })).rejects.toMatchObject({
        code: "not_found",
      });
    },
  );
});
