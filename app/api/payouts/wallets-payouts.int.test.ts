import { getAddress, type Address } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { createWalletsPayout, getPayout, listPayoutItems, listPayouts } from "@/lib/contracts/payouts";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput } from "@/lib/contracts/contract";
import { testApi, type TestApi } from "@/lib/testing/api";
import { fund, newCustomer } from "@/lib/testing/journey";
import { testAccount } from "@/lib/testing/factories";

const CHAIN = 31337;
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

type Body = BodyInput<typeof createWalletsPayout>;

/** A customer whose treasury has `amount` USDC, and a key that needs no code. */
const payer = async (amount: string, dailyCapUsd = "1000000") => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, { chainId: CHAIN, token: "USDC", amount });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd });
  return { customer, key: key.client, person: customer.session.client };
};

const someone = (): Address => testAccount().address;

const pay = (client: ApiClient, rows: readonly (readonly [string, string])[], rest: Partial<Body> = {}) =>
  client.call(createWalletsPayout, {
    body: {
      chainId: CHAIN,
      transfers: rows.map(([address, amount]) => ({ address, amount, token: "USDC" })),
      ...rest,
    },
  });

describe("a payout to wallets", () => {
  test("is accepted as pending, with its rows, batches and the money that it holds", async () => {
    const { key, customer } = await payer("100");
    const to = [someone(), someone()];
    const made = await pay(key, [
      [to[0] ?? "", "10"],
      [(to[1] ?? "").toLowerCase(), "20.5"],
    ]);
    expect(made).toMatchObject({
      kind: "wallets",
      status: "pending",
      subStatus: "queued",
      chainId: CHAIN,
      fromAddress: customer.treasury,
      items: { total: 2, queued: 2, paid: 0 },
      batches: { total: 1, settled: 0 },
      may: { approve: false, cancel: true, retry: false },
    });
    expect(made.totals).toMatchObject([{ token: { symbol: "USDC" }, amount: "30.5", paid: "0", rows: 2 }]);
    const params = { id: made.payoutId ?? "" };
    expect(await key.call(getPayout, { params })).toMatchObject({ payoutId: params.id, kind: "wallets" });
    expect((await key.call(listPayouts, { query: { kind: "wallets" } })).data).toHaveLength(1);
    const { data } = await key.call(listPayoutItems, { params });
    expect(data).toMatchObject([
      { kind: "wallets", index: 0, address: to[0], amount: "10", status: "queued", batch: 0 },
      { kind: "wallets", index: 1, address: getAddress(to[1] ?? ""), amount: "20.5", status: "queued", batch: 0 },
    ]);
    const holds = await api.services.database.prisma.balanceHold.findMany({ where: { operationId: params.id } });
    expect(holds.map(({ id, amountBase }) => [id, amountBase.toFixed()])).toEqual([[`${params.id}/0`, "30500000"]]);
  });
});
