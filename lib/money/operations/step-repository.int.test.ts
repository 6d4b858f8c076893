import { randomBytes } from "node:crypto";
import { afterAll, afterEach, expect, test } from "vitest";
import { cancelOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { createDatabase } from "@/lib/platform/db/client";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import { createLegRepository } from "./step-repository";
import { createOperationsRepository } from "./repository";

const CHAIN = 31337;

// Without a worker, so that accepted operations do not change.
const api = await testApi();
const { database, sponsorship, config } = api.services;
const { prisma } = database;

const announced: string[] = [];
const own = createDatabase(config.databaseUrl, {
  poolSize: 4,
  onAnnounced: (all) =>
    announced.push(...all.map(({ channel, payload }) => `${channel} ${payload}`)),
});
afterAll(() => own.close());
afterEach(() => void announced.splice(0));
const repository = createOperationsRepository(own, sponsorship);
const legs = createLegRepository(own, sponsorship);

const customer = await newCustomer(api);
await fund(customer.session.client, customer.treasury, {
  chainId: CHAIN,
  token: "USDC",
  amount: "100",
});
const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });

const accepted = async (): Promise<string> => {
  const place = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, toChainId: CHAIN };
  const body = { ...place, token: "USDC", amount: "0.01", toAddress: testAccount().address };
  const { transferId } = await key.client.call(createTransfer, { body });
  await key.client.call(prepareSwap, { body: { transferId } });
  return (await key.client.call(executeSwap, { body: { transferId } })).operationId;
};

const legOf = async (operationId: string) => {
  const [leg] = (await repository.find(operationId))?.legs ?? [];
  if (leg === undefined) throw new Error("It has one leg.");
  return { leg, reservedWei: leg.sponsorReservedWei ?? 0n };
};
const { projectId } = await database.prisma.wallet.findFirstOrThrow({
  where: { id: customer.treasuryId },
});
const keyOf = (id: string) => ({ projectId, id });
const hash = (): `0x${string}` => `0x${randomBytes(32).toString("hex")}`;
const now = new Date();

test("steps announce their operations when they are committed, and nothing of a step that was refused", async () => {
  const [one, other] = [await accepted(), await accepted()];
  await Promise.all([one, other].map((id) => legs.begin(keyOf(id), now)));
  // Both instances also wrote an event of their project in one transaction.
  expect(announced.sort()).toEqual([
    "event_outbox ",
    ...[one, other].map((id) => `operation_event ${id}`).sort(),
  ]);
  announced.splice(0);
  const { leg, reservedWei } = await legOf(one);
  const submit = (maxGasWei: bigint) =>
    legs.moveLeg({ leg, to: "submitted", maxGasWei, event: { type: "leg.submitted" }, now });
  await expect(submit(10n ** 30n)).rejects.toMatchObject({ code: "sponsor_budget_exceeded" });
  expect(announced).toEqual([]);
  expect(await submit(reservedWei)).not.toBeNull();
  expect(announced).toEqual([`operation_event ${one}`, "event_outbox "]);
});

test("of several writes to a leg that read it at the same time one succeeds", async () => {
  const { leg } = await legOf(await accepted());
  const counts = [1, 2, 3];
  const touched = await Promise.all(
    counts.map((sourceConfirmations) => legs.touchLeg(leg, { sourceConfirmations }, now)),
  );
  expect(touched.filter((each) => each !== null)).toHaveLength(1);
  expect((await legOf(leg.operationId)).leg).toEqual(touched.find((each) => each !== null));
});

test("a leg that is signed again keeps the hash of the earlier operation, and reserves what the new one costs", async () => {
  const operationId = await accepted();
  await legs.begin(keyOf(operationId), now);
  const { leg: queued, reservedWei } = await legOf(operationId);
  const userOperation = {
    sender: queued.walletAddress,
    nonce: 7n,
    callData: "0x",
    callGasLimit: 1n,
    verificationGasLimit: 1n,
    preVerificationGas: 1n,
    maxFeePerGas: 1n,
    maxPriorityFeePerGas: 1n,
    signature: "0x",
  } as const;
  const signed = { userOperation, userOpHash: hash() };
  await legs.moveLeg({
    leg: queued,
    to: "submitted",
    change: signed,
    event: { type: "leg.submitted" },
    now,
  });
  const { leg } = await legOf(operationId);
  const dearer = {
    userOperation: { ...userOperation, preVerificationGas: 2n },
    userOpHash: hash(),
    earlierUserOpHashes: [signed.userOpHash],
  };
  await expect(legs.replaceOperation(leg, dearer, 10n ** 30n, now)).rejects.toMatchObject({
    code: "sponsor_budget_exceeded",
  });
  expect((await legOf(operationId)).leg).toEqual(leg);
  const both = await Promise.all(
    [1n, 1n].map((more) => legs.replaceOperation(leg, dearer, reservedWei + more, now)),
  );
  expect(both.filter((each) => each !== null)).toHaveLength(1);
  expect((await legOf(operationId)).leg).toMatchObject({
    ...dearer,
    state: "submitted",
    sponsorReservedWei: reservedWei + 1n,
  });
  const events = await prisma.operationEvent.findMany({
    where: { operationId, type: "leg.signed_again" },
  });
  expect(events.map(({ data }) => data)).toMatchObject([
    { legId: leg.id, userOpHash: dearer.userOpHash },
  ]);
  await expectBudgetsToFitLegs(database);
});

test("an operation that cannot be read keeps no other one of the same read from being carried on", async () => {
  const [unreadable, other] = [await accepted(), await accepted()];
  await prisma.operation.update({
    where: { id: unreadable },
    data: { request: { wishes: 3 } },
  });
  const [refused, found] = await Promise.allSettled([
    repository.find(unreadable),
    repository.find(other),
  ]);
  expect(refused).toMatchObject({ status: "rejected" });
  expect(found).toMatchObject({ status: "fulfilled", value: { id: other } });
});

test("the first move of a leg begins its operation in the same transaction", async () => {
  const operationId = await accepted();
  const { leg } = await legOf(operationId);
  const moved = await legs.moveLeg({
    leg,
    to: "submitted",
    event: { type: "leg.submitted" },
    now,
  });
  expect(moved).toMatchObject({ status: "processing", subStatus: "source_submitted" });
  const events = await prisma.operationEvent.findMany({
    where: { operationId },
    orderBy: { seq: "asc" },
  });
  expect(events.map(({ type }) => type)).toEqual([
    "operation.created",
    "operation.processing",
    "leg.submitted",
    "operation.processing",
  ]);
  expect(await legs.begin(keyOf(operationId), now)).toBeNull();
});

test("a leg of an operation that was cancelled since it was read is not moved, and nothing begins", async () => {
  const operationId = await accepted();
  const { leg } = await legOf(operationId);
  await key.client.call(cancelOperation, { params: { id: operationId } });
  expect(
    await legs.moveLeg({ leg, to: "submitted", event: { type: "leg.submitted" }, now }),
  ).toBeNull();
  expect(await repository.find(operationId)).toMatchObject({
    status: "cancelled",
    legs: [{ state: "failed" }],
  });
  expect(
    await prisma.operationEvent.count({ where: { operationId, type: "operation.processing" } }),
  ).toBe(0);
  await expectBudgetsToFitLegs(database);
});

const sourceSeen = { sourceTxHash: hash(), gasCostWei: 1n, gasPaidBy: "sponsor" } as const;

test("a step changes the leg, its operation, its hold and the events, and announces them", async () => {
  const operationId = await accepted();
  const { leg } = await legOf(operationId);
  const submitted = await legs.moveLeg({
    leg,
    to: "submitted",
    event: { type: "leg.submitted" },
    now,
  });
  announced.splice(0);
  const at = new Date(now.getTime() + 1000);
  const own = submitted?.leg ?? leg;
  const event = { type: "leg.source_seen" };
  const seen = await legs.moveLeg({
    leg: own,
    to: "source_seen",
    change: sourceSeen,
    event,
    now: at,
  });
  expect(seen).toMatchObject({ status: "processing", subStatus: "source_confirmed" });
  expect((await legOf(operationId)).leg).toEqual(seen?.leg);
  expect(announced).toEqual([`operation_event ${operationId}`, "event_outbox "]);
  const hold = await prisma.balanceHold.findUniqueOrThrow({ where: { id: leg.id } });
  expect(hold.releasedAt).toEqual(at);
  const events = await prisma.operationEvent.findMany({
    where: { operationId },
    orderBy: { seq: "asc" },
  });
  expect(events.map(({ seq, type }) => `${String(seq)} ${type}`).slice(-2)).toEqual([
    "5 leg.source_seen",
    "6 operation.processing",
  ]);
});

test("a step of an operation that another instance has moved since changes nothing", async () => {
  const operationId = await accepted();
  const other = createLegRepository(own, sponsorship);
  const { leg } = await legOf(operationId);
  const submitted =
    (await legs.moveLeg({ leg, to: "submitted", event: { type: "leg.submitted" }, now }))
      ?.leg ?? leg;
  const step = {
    leg: submitted,
    to: "source_seen",
    change: { ...sourceSeen, receivedBase: leg.amountBase },
    event: { type: "leg.source_seen" },
    now,
  } as const;
  const both = await Promise.all([other.moveLeg(step), legs.moveLeg(step)]);
  expect(both.filter((each) => each !== null)).toHaveLength(1);
  expect(
    await prisma.operationEvent.count({ where: { operationId, type: "leg.source_seen" } }),
  ).toBe(1);
  const moved = (await legOf(operationId)).leg;
  const end = { leg: moved, to: "completed", event: { type: "leg.completed" }, now } as const;
  // Both instances have stepped the leg before, and one of them has read an old state.
  const ends = [await other.moveLeg(end), await legs.moveLeg(end)];
  expect(ends.map((each) => each?.status ?? null)).toEqual(["completed", null]);
  expect(
    await prisma.operationEvent.count({ where: { operationId, type: "leg.completed" } }),
  ).toBe(1);
  await expectBudgetsToFitLegs(database);
});

test("the job of an operation is removed with its last step", async () => {
  const operationId = await accepted();
  const { leg } = await legOf(operationId);
  expect(await prisma.job.count({ where: { id: operationId } })).toBe(1);
  const failure = { code: "no_route", message: "None.", retryable: true };
  await legs.moveLeg({
    leg,
    to: "failed",
    change: { failure },
    event: { type: "leg.failed" },
    now,
  });
  expect(await repository.find(operationId)).toMatchObject({
    status: "failed",
    legs: [{ failure }],
  });
  expect(await prisma.job.count({ where: { id: operationId } })).toBe(0);
});
