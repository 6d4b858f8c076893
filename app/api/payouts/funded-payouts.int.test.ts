import type { Address } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { cancelOperation } from "@/lib/contracts/operations";
import {
  approvePayout,
  cancelPayout,
  createWalletsPayout,
  getPayout,
  listPayoutItems,
  listPayouts,
  retryPayout,
} from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput } from "@/lib/contracts/contract";
import { isFinal } from "@/lib/core/status";
import { parseWalletPayout } from "@/lib/money/payouts/wallets/wallet-payout";
import { startWorker } from "@/lib/workers/runner";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  codesOf,
  fund,
  newCustomer,
  type Customer,
} from "@/lib/dev/testing/journey";

const [HERE, THERE, FAR] = [31337, 31338, 31339];
const UNIT = 1_000_000n;
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

type Body = BodyInput<typeof createWalletsPayout>;
const refusal = (
  work: Promise<unknown>,
): Promise<{ code: string; details?: readonly { path: string }[] }> =>
  work.then(
    () => ({ code: "ok" }),
    (error: unknown) => error as { code: string },
  );

const payer = async (balances: readonly (readonly [number, string])[]) => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  for (const [chainId, amount] of balances)
    await fund(client, customer.treasury, { chainId, token: "USDC", amount });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000000" });
  return { customer, client, key: key.client };
};

const pay = (
  client: ApiClient,
  rows: readonly (readonly [Address, string])[],
  rest: Partial<Body> = {},
) =>
  client.call(createWalletsPayout, {
    body: {
      chainId: HERE,
      transfers: rows.map(([address, amount]) => ({ address, amount, token: "USDC" })),
      fundFrom: "auto",
      ...rest,
    },
  });

const approve = async (customer: Customer, id: string) => {
  const seen = await codesOf(api, customer);
  await customer.session.client.call(requestOtp, { body: { payoutId: id } });
  const otp = await api.readCode(customer.email, seen);
  return customer.session.client.call(approvePayout, { params: { id }, body: { otp } });
};

const read = (client: ApiClient, id: string) => client.call(getPayout, { params: { id } });
const fundedBy = async (client: ApiClient, id: string): Promise<string> => {
  const payout = await read(client, id);
  return payout.kind === "wallets" ? (payout.fundedBy ?? "") : "";
};
/** The quote by which the missing part of a payout is brought to its chain. */
const plannedQuoteOf = async (payoutId: string): Promise<string> => {
  const { funding } = parseWalletPayout(
    await api.services.database.prisma.walletPayout.findFirstOrThrow({ where: { payoutId } }),
  );
  if (funding === null) throw new Error("Nothing of the payout is funded from other chains.");
  return funding.quoteId;
};
/** Sets the least that a quote must bring. @returns the former value */
const setMinimum = async ({
  quoteId: id,
  minimumBase,
}: {
  quoteId: string;
  minimumBase: string;
}): Promise<string> => {
  const { prisma } = api.services.database;
  const { minimumBase: before } = await prisma.quote.findUniqueOrThrow({ where: { id } });
  await prisma.quote.update({ where: { id }, data: { minimumBase } });
  return before.toFixed(0);
};
const turn = (id: string) => api.services.payoutRunner.run(id, new AbortController().signal);
const received = (owner: Address): Promise<bigint> => {
  const { registry } = api.services;
  const token = registry.resolveToken(HERE, "USDC").address;
  return balanceOnChain(registry.get(HERE).rpcUrls[0] ?? "", token, owner);
};

test("a payout that its chain cannot pay alone is planned from the other chains: the cost is shown, and nothing is stored when it is validated only", async () => {
  const { key, client } = await payer([
    [HERE, "5"],
    [THERE, "20"],
    [FAR, "8"],
  ]);
  const rows = [[testAccount().address, "15"]] as const;
  const refused = await refusal(pay(key, rows, { fundFrom: undefined }));
  expect(refused).toMatchObject({
    code: "insufficient_balance",
    details: [{ path: "transfers" }],
  });
  const planned = await pay(key, rows, { validateOnly: true });
  expect(planned).toMatchObject({
    payoutId: null,
    fundFrom: "auto",
    fundedBy: null,
    funding: { token: { symbol: "USDC", chainId: HERE }, missing: "10" },
  });
  expect(Number(planned.funding?.minimum)).toBeGreaterThanOrEqual(10);
  expect(planned.funding?.fees.length).toBeGreaterThan(0);
  for (const source of planned.funding?.sources ?? [])
    expect([THERE, FAR]).toContain(source.chainId);
  expect((await client.call(listPayouts)).data).toEqual([]);
  const named = { fundFrom: [{ chainId: FAR, token: "USDC" }], validateOnly: true };
  expect(await refusal(pay(key, rows, named))).toMatchObject({
    code: "insufficient_balance",
    details: [{ path: "fundFrom" }],
  });
  const both = {
    ...named,
    fundFrom: [
      { chainId: FAR, token: "USDC" },
      { chainId: THERE, token: "USDC" },
    ],
  };
  expect((await pay(key, rows, both)).funding?.sources.map(({ chainId }) => chainId)).toEqual([
    FAR,
    THERE,
  ]);
  expect(
    await refusal(pay(key, rows, { ...named, fundFrom: [{ chainId: 1, token: "USDC" }] })),
  ).toMatchObject({
    code: "unsupported_chain",
    details: [{ path: "fundFrom.0.chainId" }],
  });
  // A payout that the chain's own balance covers needs no funding.
  expect(
    (await pay(key, [[testAccount().address, "5"]], { validateOnly: true })).funding,
  ).toBeNull();
});

test("a payout that its chain cannot pay alone is brought the missing part by one operation that its code approves too, and then pays each row once", async () => {
  const { customer, client } = await payer([
    [HERE, "5"],
    [THERE, "20"],
  ]);
  const [a, b] = [testAccount().address, testAccount().address];
  const made = await pay(client, [
    [a, "9"],
    [b, "6"],
  ]);
  const id = made.payoutId ?? "";
  expect(made).toMatchObject({
    subStatus: "awaiting_approval",
    fundedBy: null,
    funding: { missing: "10" },
  });
  // The route would bring less than was promised: the approval is refused, and only its code is
  // used up.
  const promised = {
    quoteId: await plannedQuoteOf(id),
    minimumBase: (1_000_000n * UNIT).toString(),
  };
  const earlier = await setMinimum(promised);
  const moved = await refusal(approve(customer, id));
  expect(moved).toMatchObject({ code: "quote_price_moved" });
  for (const { errors } of [createWalletsPayout, approvePayout, retryPayout])
    expect(errors).toContain(moved.code);
  await setMinimum({ ...promised, minimumBase: earlier });
  const approved = await approve(customer, id);
  expect(approved).toMatchObject({ status: "pending", subStatus: "prepared" });
  const [mail] = (await api.services.inbox?.list({ to: customer.email, limit: 1 })) ?? [];
  expect(mail?.text).toMatch(/First you bring: 1[0-9.]+ USDC from/);
  expect(await fundedBy(client, id)).toMatch(/^op_/);
  // No row is paid before the missing part has arrived, however many turns are taken.
  await Promise.all([turn(id), turn(id)]);
  expect(await read(client, id)).toMatchObject({ status: "processing", subStatus: "bridging" });
  expect(await refusal(approve(customer, id))).toMatchObject({ code: "invalid_state" });
  const worker = startWorker(api.services);
  try {
    const done = await vi.waitFor(
      async () => {
        const payout = await read(client, id);
        if (!isFinal(payout.status))
          throw new Error(`The payout is ${payout.status} (${payout.subStatus}).`);
        return payout;
      },
      { timeout: 45_000, interval: 100 },
    );
    expect(done).toMatchObject({ status: "completed", items: { paid: 2 } });
    expect([await received(a), await received(b)]).toEqual([9n * UNIT, 6n * UNIT]);
    const operations = await api.services.database.prisma.operation.count({
      where: { createdBy: made.createdBy, kind: "swap_and_transfer" },
    });
    expect(operations).toBe(1);
  } finally {
    await worker.stop();
  }
});

test("a payout that its chain cannot pay alone runs at once for a key that needs no code; equal requests at once fund it once", async () => {
  const { key, client } = await payer([
    [HERE, "1"],
    [THERE, "40"],
  ]);
  const rows = [[testAccount().address, "7"]] as const;
  const codes = (await Promise.all([1, 2, 3].map(() => refusal(pay(key, rows)))))
    .map(({ code }) => code)
    .sort();
  expect(codes).toEqual(["duplicate_payout", "duplicate_payout", "ok"]);
  const [made] = (await client.call(listPayouts)).data;
  expect(made).toMatchObject({ kind: "wallets", status: "pending", subStatus: "prepared" });
  const { prisma } = api.services.database;
  expect(await prisma.operation.count({ where: { createdBy: made?.createdBy ?? "" } })).toBe(1);
  // The payout and the operation that funds it can both be cancelled while nothing was sent.
  const operationId = await fundedBy(client, made?.payoutId ?? "");
  expect(
    await client.call(cancelPayout, { params: { id: made?.payoutId ?? "" } }),
  ).toMatchObject({
    status: "cancelled",
  });
  await client.call(cancelOperation, { params: { id: operationId } });
  expect(await turn(made?.payoutId ?? "")).toEqual({ done: true });
});

test("a payout that its chain cannot pay alone stays unpaid as a whole when the missing part does not come, and says where the money is", async () => {
  const { key, client, customer } = await payer([
    [HERE, "1"],
    [THERE, "40"],
  ]);
  const made = await pay(key, [[testAccount().address, "7"]]);
  const id = made.payoutId ?? "";
  await turn(id);
  await client.call(cancelOperation, { params: { id: await fundedBy(client, id) } });
  await Promise.all([turn(id), turn(id)]);
  const failed = await read(client, id);
  expect(failed).toMatchObject({
    status: "failed",
    items: { failed: 1, paid: 0 },
    failure: { code: "funding_failed" },
  });
  expect(failed.failure?.message).toContain(await fundedBy(client, id));
  expect(failed.nextAction).toContain(customer.treasury);
  expect(failed.may.retry).toBe(true);
  const { data } = await client.call(listPayoutItems, { params: { id } });
  expect(data).toMatchObject([{ status: "failed", failure: { code: "funding_failed" } }]);
  const { prisma } = api.services.database;
  expect(await prisma.balanceHold.count({ where: { operationId: id } })).toBe(0);
});
