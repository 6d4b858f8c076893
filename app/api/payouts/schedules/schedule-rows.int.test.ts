import { beforeAll, expect, test } from "vitest";
import {
  createPayoutSchedule,
  listPayoutScheduleItems,
} from "@/lib/contracts/payout-schedules";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { newCustomer } from "@/lib/dev/testing/journey";

let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

test("a schedule that waits shows whom it pays, row by row and page by page", async () => {
  const { client } = (await newCustomer(api)).session;
  const transfers = ["3", "1", "2"].map((amount, at) => ({
    address: testAccount().address,
    amount,
    token: "USDC",
    ...(at === 0 ? { reference: "Rent", note: "March" } : {}),
  }));
  const { id } = await client.call(createPayoutSchedule, {
    body: {
      chainId: 31337,
      transfers,
      startsAt: new Date(Date.now() + 3_600_000).toISOString(),
    },
  });
  const page = (query: { limit: number; cursor?: string }) =>
    client.call(listPayoutScheduleItems, { params: { id }, query });
  const first = await page({ limit: 2 });
  expect(first.data).toMatchObject([
    {
      index: 0,
      address: transfers[0]?.address,
      amount: "3",
      token: { symbol: "USDC" },
      reference: "Rent",
      note: "March",
    },
    { index: 1, address: transfers[1]?.address, amount: "1", reference: null, note: null },
  ]);
  const last = await page({ limit: 2, cursor: first.nextCursor ?? "" });
  expect(last).toMatchObject({
    data: [{ index: 2, address: transfers[2]?.address, amount: "2" }],
    nextCursor: null,
  });
  await expect(page({ limit: 2, cursor: "next" })).rejects.toMatchObject({
    code: "invalid_cursor",
  });
});
