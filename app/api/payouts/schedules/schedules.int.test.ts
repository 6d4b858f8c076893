import { beforeAll, expect, test } from "vitest";
import {
  approvePayoutSchedule,
  cancelPayoutSchedule,
  createPayoutSchedule,
  getPayoutSchedule,
  listPayoutSchedules,
} from "@/lib/contracts/payout-schedules";
import { createWalletsPayout, getPayout, listPayouts } from "@/lib/contracts/payouts";
import { requestOtp } from "@/lib/contracts/swap";
import type { ApiClient } from "@/lib/api-client/client";
import type { BodyInput } from "@/lib/contracts/contract";
import { createSchedulesRepository } from "@/lib/money/payouts/schedules/repository";
import { createScheduleRuns, type ScheduleRunsDeps } from "@/lib/money/payouts/schedules/runs";
import { demandVotes, requestAbout } from "@/lib/dev/testing/voters";
import { testApi, type TestApi } from "@/lib/dev/testing/api";
import { asOwner } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { codesOf, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { eventsOf, eventTypesOf } from "@/lib/dev/testing/project-events";

const CHAIN = 31337;
const HOUR_MS = 3600 * 1000;
const DAY_MS = 24 * HOUR_MS;
let api: TestApi;
beforeAll(async () => {
  api = await testApi({});
});

type Body = BodyInput<typeof createPayoutSchedule>;
type Refusal = {
  readonly status: number;
  readonly code: string;
  readonly details?: readonly { path: string }[];
};

const refusal = (work: Promise<unknown>): Promise<Refusal> =>
  work.then(
    () => ({ status: 200, code: "ok" }),
    (error: unknown) => error as Refusal,
  );

/** An instance of the service whose clock shows the given time. */
const instanceAt = (time: () => Date, changed: Partial<ScheduleRunsDeps> = {}) =>
  createScheduleRuns({
    repository: createSchedulesRepository(api.services.database),
    payouts: api.services.payouts,
    projects: api.services.projects,
    registry: api.services.registry,
    wallets: api.services.wallets,
    policies: api.services.policies,
    recipients: api.services.recipients,
    clock: { now: time },
    log: { warn: () => undefined },
    ...changed,
  });
type CreatePayout = ScheduleRunsDeps["payouts"]["createPayout"];
const dies = () => Promise.reject(new Error("killed"));
const turnAt = (at: Date): Promise<void> => instanceAt(() => at).runDue();

const payer = async (amount: string) => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount,
  });
  return { customer, client: customer.session.client };
};

const start = new Date(Math.ceil(Date.now() / HOUR_MS) * HOUR_MS + HOUR_MS);
const make = (client: ApiClient, rest: Partial<Body> = {}) =>
  client.call(createPayoutSchedule, {
    body: {
      chainId: CHAIN,
      transfers: [
        { address: testAccount().address, amount: "3", token: "USDC", reference: "Rent" },
        { address: testAccount().address, amount: "1", token: "USDC" },
      ],
      startsAt: start.toISOString(),
      every: "day",
      ...rest,
    },
  });

const codeFor = async (customer: Customer, scheduleId: string): Promise<string> => {
  const seen = await codesOf(api, customer);
  await customer.session.client.call(requestOtp, { body: { scheduleId } });
  return api.readCode(customer.email, seen);
};

const approve = async (customer: Customer, id: string) =>
  customer.session.client.call(approvePayoutSchedule, {
    params: { id },
    body: { otp: await codeFor(customer, id) },
  });

const read = (client: ApiClient, id: string) =>
  client.call(getPayoutSchedule, { params: { id } });

test("a schedule waits for a code that states its rows and timing, and pays nothing before", async () => {
  const { client, customer } = await payer("10");
  const made = await make(client, {
    endsAt: new Date(start.getTime() + 3 * DAY_MS).toISOString(),
  });
  expect(made).toMatchObject({
    status: "awaiting_approval",
    rows: 2,
    nextRunAt: null,
    runs: [],
    timeZone: "UTC",
  });
  expect(made.totals).toMatchObject([{ token: { symbol: "USDC" }, amount: "4", rows: 2 }]);
  await turnAt(new Date(start.getTime() + 1000));
  expect((await client.call(listPayouts)).data).toEqual([]);
  const id = made.id;
  expect(
    await refusal(
      client.call(approvePayoutSchedule, { params: { id }, body: { otp: "000000" } }),
    ),
  ).toMatchObject({
    code: "otp_required",
  });
  const approved = await approve(customer, id);
  expect(approved).toMatchObject({ status: "active", nextRunAt: start.toISOString() });
  const [mail] = (await api.services.inbox?.list({ to: customer.email, limit: 1 })) ?? [];
  for (const part of [
    "Every day",
    start.toISOString(),
    "in 2 payments",
    "4 USDC",
    "3 USDC to 0x",
  ])
    expect(mail?.text).toContain(part);
  expect((await client.call(listPayoutSchedules)).data).toMatchObject([{ id, rows: 2 }]);
  expect(await refusal(codeFor(customer, id))).toMatchObject({ code: "invalid_state" });
});

test("where the project demands votes, the payout of a run waits for them, although a code approved the schedule", async () => {
  const { client, customer } = await payer("10");
  const { id: scheduleId } = await make(client);
  await approve(customer, scheduleId);
  await demandVotes(client, { count: 1, roles: ["owner"], excludeMaker: false });
  for (let turn = 0; turn < 2; turn += 1) await turnAt(new Date(start.getTime() + 1000));
  const { data } = await client.call(listPayouts);
  expect(data).toMatchObject([{ status: "pending", subStatus: "awaiting_approval" }]);
  const payoutId = data[0]?.payoutId ?? "";
  expect((await read(client, scheduleId)).runs).toMatchObject([{ payoutId }]);
  expect(await requestAbout(client, payoutId)).toMatchObject({
    state: "open",
    required: { count: 1 },
  });
});

test("a schedule is refused with every field at fault named", async () => {
  const { client } = await payer("10");
  const past = new Date(Date.now() - 1000).toISOString();
  expect(
    await refusal(make(client, { startsAt: past, timeZone: "Mars/Olympus", endsAt: past })),
  ).toMatchObject({
    status: 400,
    details: [{ path: "timeZone" }, { path: "startsAt" }],
  });
  const before = new Date(start.getTime() - 1000).toISOString();
  expect(await refusal(make(client, { endsAt: before }))).toMatchObject({
    details: [{ path: "endsAt" }],
  });
  const bad = { address: "0x12", amount: "0", token: "USDC" };
  expect(
    (await refusal(make(client, { transfers: [bad] }))).details?.map(({ path }) => path),
  ).toEqual(["transfers.0.address", "transfers.0.amount"]);
});

test("a schedule makes each run once, as a payout of its own, however many instances look; the same rows are no duplicates", async () => {
  const { client, customer } = await payer("10");
  const { id } = await make(client);
  await approve(customer, id);
  const first = new Date(start.getTime() + 1000);
  await Promise.all(Array.from({ length: 5 }, () => turnAt(first)));
  const second = new Date(first.getTime() + DAY_MS);
  await Promise.all(Array.from({ length: 5 }, () => turnAt(second)));
  const { data } = await client.call(listPayouts);
  expect(data).toHaveLength(2);
  expect(data).toMatchObject(
    // The first run paid its recipients for the first time.
    [[], [{ code: "first_payment" }]].map((warnings) => ({
      kind: "wallets",
      subStatus: "queued",
      scheduleId: id,
      createdBy: expect.any(String) as string,
      warnings,
    })),
  );
  const { runs, nextRunAt, status } = await read(client, id);
  expect(runs.map((run) => [run.scheduledAt, run.status])).toEqual([
    [new Date(start.getTime() + DAY_MS).toISOString(), "started"],
    [start.toISOString(), "started"],
  ]);
  expect(new Set(runs.map(({ payoutId }) => payoutId))).toEqual(
    new Set(data.map(({ payoutId }) => payoutId)),
  );
  expect([nextRunAt, status]).toEqual([
    new Date(start.getTime() + 2 * DAY_MS).toISOString(),
    "active",
  ]);
  // A payment by hand that equals a row of a run is refused as a duplicate.
  const [row] = (
    await api.services.payouts.items(
      data[0] ? await projectOf(customer) : "",
      data[0]?.payoutId ?? "",
      { limit: 1 },
    )
  ).rows;
  const again = client.call(createWalletsPayout, {
    body: {
      chainId: CHAIN,
      transfers: [
        {
          address: row && "recipient" in row ? row.recipient : "",
          amount: "3",
          token: "USDC",
          reference: "Rent",
        },
      ],
    },
  });
  expect(await refusal(again)).toMatchObject({ code: "duplicate_payout" });
});

test("a schedule whose service died before the payout was stored makes it afterwards, once", async () => {
  const { client, customer } = await payer("10");
  const { id } = await make(client);
  await approve(customer, id);
  const at = new Date(start.getTime() + 1000);
  await instanceAt(() => at, { payouts: { createPayout: dies } }).runDue();
  expect((await read(client, id)).runs).toMatchObject([{ status: "started", payoutId: null }]);
  // Within the transaction that stores it: neither the payout nor the note in its run is there.
  const ofOwner = (text: string) => asOwner(api.services.config.databaseUrl, text);
  await ofOwner(
    `ALTER TABLE wallet_payout ADD CONSTRAINT dies_within CHECK (schedule_id <> '${id}') NOT VALID`,
  );
  await turnAt(at);
  await ofOwner("ALTER TABLE wallet_payout DROP CONSTRAINT dies_within");
  expect((await read(client, id)).runs).toMatchObject([{ status: "started", payoutId: null }]);
  expect((await client.call(listPayouts)).data).toEqual([]);
  await Promise.all(
    Array.from({ length: 5 }, () => turnAt(new Date(at.getTime() + HOUR_MS / 2))),
  );
  const [made] = (await client.call(listPayouts)).data;
  expect((await read(client, id)).runs).toMatchObject([
    { status: "started", payoutId: made?.payoutId },
  ]);
  await turnAt(new Date(at.getTime() + 2 * HOUR_MS));
  expect((await read(client, id)).runs).toMatchObject([
    { status: "started", payoutId: made?.payoutId },
  ]);
  expect((await client.call(listPayouts)).data).toHaveLength(1);
});

test("a schedule whose service died before the payout was stored never pays it once it is late", async () => {
  const { client, customer } = await payer("10");
  const { id } = await make(client);
  await approve(customer, id);
  await instanceAt(() => start, { payouts: { createPayout: dies } }).runDue();
  await turnAt(new Date(start.getTime() + 2 * HOUR_MS));
  expect((await read(client, id)).runs).toMatchObject([
    { status: "missed", payoutId: null, failure: { code: "missed", retryable: false } },
  ]);
  expect((await client.call(listPayouts)).data).toEqual([]);
  // Another instance noted it as missed while this one was about to store its payout.
  const nextDay = new Date(start.getTime() + DAY_MS);
  const overtaken: CreatePayout = async (...of) => {
    await turnAt(new Date(nextDay.getTime() + 2 * HOUR_MS));
    await api.services.payouts.createPayout(...of);
  };
  await instanceAt(() => nextDay, { payouts: { createPayout: overtaken } }).runDue();
  expect(
    (await read(client, id)).runs.map(({ status, payoutId }) => [status, payoutId]),
  ).toEqual([
    ["missed", null],
    ["missed", null],
  ]);
  expect((await client.call(listPayouts)).data).toEqual([]);
});

test("a schedule that was cancelled pays no run that was claimed before, even when its payout is about to be stored", async () => {
  const { client, customer } = await payer("10");
  const refused = [
    { status: "refused", payoutId: null, failure: { code: "cancelled", retryable: false } },
  ];
  const [before, meanwhile] = [await make(client), await make(client)];
  for (const { id: scheduleId } of [before, meanwhile]) await approve(customer, scheduleId);
  await instanceAt(() => start, { payouts: { createPayout: dies } }).runDue();
  await client.call(cancelPayoutSchedule, { params: { id: before.id } });
  const cancelledMeanwhile: CreatePayout = async (...of) => {
    await client.call(cancelPayoutSchedule, { params: { id: meanwhile.id } });
    await api.services.payouts.createPayout(...of);
  };
  await instanceAt(() => start, { payouts: { createPayout: cancelledMeanwhile } }).runDue();
  for (const { id: scheduleId } of [before, meanwhile])
    expect((await read(client, scheduleId)).runs).toMatchObject(refused);
  await turnAt(new Date(start.getTime() + 1000));
  expect((await client.call(listPayouts)).data).toEqual([]);
});

test("a schedule shows the runs that were missed, and never pays them later", async () => {
  const { client, customer } = await payer("10");
  const { id } = await make(client);
  await approve(customer, id);
  // The service was down for two days and half an hour: only the third run is less than an hour
  // late.
  await turnAt(new Date(start.getTime() + 2 * DAY_MS + HOUR_MS / 2));
  const { runs } = await read(client, id);
  expect(runs.map(({ status, failure }) => [status, failure?.code ?? null])).toEqual([
    ["started", null],
    ["missed", "missed"],
    ["missed", "missed"],
  ]);
  expect((await client.call(listPayouts)).data).toHaveLength(1);
  await turnAt(new Date(start.getTime() + 3 * DAY_MS + 2 * HOUR_MS));
  expect((await read(client, id)).runs[0]).toMatchObject({ status: "missed", payoutId: null });
  expect((await client.call(listPayouts)).data).toHaveLength(1);
  expect((await read(client, id)).nextAction).toContain("missed");
  expect(await eventTypesOf(api.services.database, id)).toContain("payout_schedule.run_missed");
});

test("a schedule reports a run that is refused, and goes on with the next; what may pass is tried again", async () => {
  const { client, customer } = await payer("3");
  const { id } = await make(client);
  await approve(customer, id);
  const away = () => Promise.reject(new Error("away"));
  await instanceAt(() => new Date(start.getTime() + 1000), {
    payouts: { createPayout: away },
  }).runDue();
  expect((await read(client, id)).runs).toMatchObject([{ status: "started", payoutId: null }]);
  await turnAt(new Date(start.getTime() + 5000));
  expect((await read(client, id)).runs).toMatchObject([
    { status: "refused", failure: { code: "insufficient_balance" } },
  ]);
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "10" });
  await turnAt(new Date(start.getTime() + 6000));
  expect((await client.call(listPayouts)).data).toEqual([]);
  await turnAt(new Date(start.getTime() + DAY_MS));
  expect((await read(client, id)).runs.map(({ status }) => status)).toEqual([
    "started",
    "refused",
  ]);
  await api.services.database.prisma.membership.updateMany({
    where: { projectId: await projectOf(customer) },
    data: { role: "viewer" },
  });
  await turnAt(new Date(start.getTime() + 2 * DAY_MS));
  expect((await read(client, id)).runs[0]).toMatchObject({
    status: "refused",
    failure: { code: "forbidden" },
  });
  const events = await eventsOf(api.services.database, id);
  expect(events.map(({ type, payload }) => [type, payload])).toMatchObject([
    [
      "payout_schedule.run_refused",
      { scheduleId: id, failure: { code: "insufficient_balance" } },
    ],
    ["payout_schedule.run_refused", { scheduleId: id, failure: { code: "forbidden" } }],
  ]);
});

test("a schedule pays nothing when the stored request differs from what was approved", async () => {
  const { client, customer } = await payer("10");
  const { id } = await make(client);
  await approve(customer, id);
  const { prisma } = api.services.database;
  const { request } = await prisma.payoutSchedule.findFirstOrThrow({ where: { id } });
  const changed = JSON.parse(
    JSON.stringify(request).replace('"amount":"3"', '"amount":"4"'),
  ) as object;
  await prisma.payoutSchedule.updateMany({ where: { id }, data: { request: changed } });
  await turnAt(new Date(start.getTime() + 1000));
  expect((await read(client, id)).runs).toMatchObject([
    { status: "refused", failure: { code: "invalid_state" } },
  ]);
  expect((await client.call(listPayouts)).data).toEqual([]);
});

test("a schedule ends after its last run; after it is cancelled no run is made, and payouts that have begun go on", async () => {
  const { client, customer } = await payer("10");
  const once = await client.call(createPayoutSchedule, {
    body: {
      chainId: CHAIN,
      transfers: [{ address: testAccount().address, amount: "1", token: "USDC" }],
      startsAt: start.toISOString(),
    },
  });
  const daily = await make(client);
  for (const { id: scheduleId } of [once, daily]) await approve(customer, scheduleId);
  await turnAt(new Date(start.getTime() + 1000));
  expect(await read(client, once.id)).toMatchObject({
    status: "ended",
    nextRunAt: null,
    runs: [{ status: "started" }],
  });
  const params = { id: daily.id };
  expect(await client.call(cancelPayoutSchedule, { params })).toMatchObject({
    status: "cancelled",
    nextRunAt: null,
  });
  expect(await client.call(cancelPayoutSchedule, { params })).toMatchObject({
    status: "cancelled",
  });
  await turnAt(new Date(start.getTime() + DAY_MS + 1000));
  const { runs } = await read(client, daily.id);
  expect(runs).toHaveLength(1);
  const begun = await client.call(getPayout, { params: { id: runs[0]?.payoutId ?? "" } });
  expect(begun).toMatchObject({ status: "pending", subStatus: "queued" });
});

test("a schedule of another project is not there", async () => {
  const { client } = await payer("10");
  const { id } = await make(client);
  const { session: stranger } = await newCustomer(api);
  const calls = [
    read(stranger.client, id),
    stranger.client.call(cancelPayoutSchedule, { params: { id } }),
    stranger.client.call(approvePayoutSchedule, { params: { id }, body: { otp: "000000" } }),
    stranger.client.call(requestOtp, { body: { scheduleId: id } }),
  ];
  for (const refused of await Promise.all(calls.map(refusal)))
    expect(refused).toMatchObject({ status: 404 });
});

const projectOf = async ({ treasuryId }: Customer): Promise<string> =>
  (await api.services.database.prisma.wallet.findUniqueOrThrow({ where: { id: treasuryId } }))
    .projectId;
