/** Schedules that an API key made, and the policy of that key. */
import { expect, test } from "vitest";
import {
  approvePayoutSchedule,
  createPayoutSchedule,
  getPayoutSchedule,
} from "@/lib/contracts/payout-schedules";
import { listPayouts } from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import { createSchedulesRepository } from "@/lib/money/payouts/schedules/repository";
import { createScheduleRuns } from "@/lib/money/payouts/schedules/runs";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer } from "@/lib/dev/testing/funded-customer";
import { codesOf } from "@/lib/dev/testing/journey";
import { putRules } from "@/lib/dev/testing/policies";

const CHAIN = 31337;
const api = await testApi();

test("the policy of a key bounds the runs of a schedule that the key made and a person approved", async () => {
  const of = await fundedCustomer(api);
  const { client } = of.session;
  const startsAt = new Date(Date.now() + 3_600_000);
  const transfers = [{ address: testAccount().address, amount: "3", token: "USDC" }];
  const body = {
    chainId: CHAIN,
    transfers,
    startsAt: startsAt.toISOString(),
    every: "day" as const,
  };
  const { id } = await of.client.call(createPayoutSchedule, { body });
  const seen = await codesOf(api, of);
  await client.call(requestOtp, { body: { scheduleId: id } });
  const otp = await api.readCode(of.email, seen);
  await client.call(approvePayoutSchedule, { params: { id }, body: { otp } });
  const rules = { perOperation: { usd: "1" } };
  await putRules(of.session, { scope: "key", subjectId: of.keyId, baseVersion: 0, rules });

  const { services } = api;
  const runs = createScheduleRuns({
    ...services,
    repository: createSchedulesRepository(services.database),
    clock: { now: () => new Date(startsAt.getTime() + 1000) },
    log: { warn: () => undefined },
  });
  await runs.runDue();
  expect((await client.call(getPayoutSchedule, { params: { id } })).runs).toMatchObject([
    { status: "refused", failure: { code: "policy_violation" } },
  ]);
  expect((await client.call(listPayouts)).data).toEqual([]);
});
