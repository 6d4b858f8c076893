import { describe, expect, onTestFinished, test } from "vitest";
import { createServices } from "@/lib/composition";
import { cancelOperation } from "@/lib/contracts/operations";
import { executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { createLegRepository } from "@/lib/money/operations/step-repository";
import { createOperationsRepository } from "@/lib/money/operations/repository";
import { testApi, type TestApiKey } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";

const CHAIN = 31337;
/**
 * A clock that stands still within a test, so that the first prepared quote is still valid when the
 * last one is prepared.
 */
let now = new Date();
const clock: Clock = { now: () => now };
// Without a worker, so that accepted operations do not change.
const api = await testApi({ overrides: { clock } });
const { database, sponsorship } = api.services;
const { prisma } = database;
const repository = createOperationsRepository(database, sponsorship);
const legs = createLegRepository(database, sponsorship);

interface Payer {
  readonly key: TestApiKey;
  readonly projectId: string;
  readonly treasuryId: string;
}

const newPayer = async (): Promise<Payer> => {
  // Sign-in messages contain this machine's time, so the service's clock must be close to it.
  now = new Date();
  const { session, treasury, treasuryId } = await newCustomer(api);
  await fund(session.client, treasury, { chainId: CHAIN, token: "USDC", amount: "100" });
  const key = await api.createKey(session, { otp: "exempt", dailyCapUsd: "1000" });
  const { projectId } = await prisma.wallet.findFirstOrThrow({ where: { address: treasury } });
  return { key, projectId, treasuryId };
};

const prepared = async ({ key, treasuryId }: Payer): Promise<string> => {
  const body = {
    fromWalletId: treasuryId,
    fromChainId: CHAIN,
    toChainId: CHAIN,
    token: "USDC",
    amount: "0.01",
  };
  const toAddress = testAccount().address;
  const { transferId } = await key.client.call(createTransfer, {
    body: { ...body, toAddress },
  });
  await key.client.call(prepareSwap, { body: { transferId } });
  return transferId;
};

const execute = ({ key }: Payer, transferId: string) =>
  key.client.call(executeSwap, { body: { transferId } });

const limit = (
  { projectId }: Payer,
  dailyWei: bigint | null,
  operationWei: bigint | null = null,
) => sponsorship.setBudget({ projectId, chainId: CHAIN }, { dailyWei, operationWei });

const reservedBy = async ({ projectId }: Payer): Promise<bigint> => {
  const row = await prisma.sponsorUsage.findFirst({ where: { projectId, chainId: CHAIN } });
  return BigInt(row?.reservedWei.toFixed(0) ?? "0");
};

const legOf = async (operationId: string) => {
  const operation = await repository.find(operationId);
  const [leg] = operation?.legs ?? [];
  if (operation === null || leg === undefined) throw new Error("It has one leg.");
  return { operation, leg, reservedWei: leg.sponsorReservedWei ?? 0n };
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "ok",
    (error: unknown) => {
      if (isDomainError(error)) return error.code;
      return (error as { code?: string }).code ?? String(error);
    },
  );

const EXECUTES = 200;
const AT_ONCE = 10;
const FITTING = 12n;

describe("two hundred executes at once, over two instances", () => {
  test("never exceed the day's budget, and the refused ones get an error that says so", async () => {
    const payer = await newPayer();
    const first = await execute(payer, await prepared(payer));
    const { reservedWei: one } = await legOf(first.operationId);
    const transferIds: string[] = [];
    while (transferIds.length < EXECUTES) {
      transferIds.push(
        ...(await Promise.all(Array.from({ length: AT_ONCE }, () => prepared(payer)))),
      );
    }
    const dailyWei = one * (FITTING + 1n) + one / 2n;
    await limit(payer, dailyWei);

    const other = createServices(api.services.config, { clock });
    onTestFinished(() => other.close());
    const actor = await other.apiKeys.verify(payer.key.secret);
    const codes = await Promise.all(
      transferIds.map((transferId, index) =>
        codeOf(
          index % 2 === 0
            ? execute(payer, transferId)
            : other.swaps.execute(actor, { transferId }),
        ),
      ),
    );

    const accepted = codes.filter((code) => code === "ok").length;
    expect(codes.filter((code) => code !== "ok" && code !== "sponsor_budget_exceeded")).toEqual(
      [],
    );
    expect(await prisma.operation.count({ where: { projectId: payer.projectId } })).toBe(
      accepted + 1,
    );
    const reserved = await reservedBy(payer);
    expect(reserved).toBeLessThanOrEqual(dailyWei);
    const legs = await prisma.operationLeg.findMany({
      where: { operation: { projectId: payer.projectId } },
    });
    const dearest = legs.reduce((most, leg) => {
      const wei = BigInt(leg.sponsorReservedWei?.toFixed(0) ?? "0");
      return wei > most ? wei : most;
    }, 0n);
    // The refused operations would not have fitted into the rest of the budget.
    expect(dailyWei - reserved).toBeLessThan(dearest * 2n);
    expect(accepted).toBeGreaterThan(1);
    await expectBudgetsToFitLegs(database);
  }, 300_000);
});

describe("a reservation", () => {
  test("is free again when its operation is cancelled before it began", async () => {
    const payer = await newPayer();
    const { operationId } = await execute(payer, await prepared(payer));
    const { reservedWei } = await legOf(operationId);
    expect(reservedWei).toBeGreaterThan(0n);
    expect(await reservedBy(payer)).toBe(reservedWei);
    await payer.key.client.call(cancelOperation, { params: { id: operationId } });
    expect(await reservedBy(payer)).toBe(0n);
    await expectBudgetsToFitLegs(database);
  });

  test("follows the price at which its leg is signed, as far as the budgets allow, and ends once, with the leg", async () => {
    const payer = await newPayer();
    const { operationId } = await execute(payer, await prepared(payer));
    await legs.begin({ projectId: payer.projectId, id: operationId }, now);
    const event = { type: "leg.submitted" };
    const { leg, reservedWei } = await legOf(operationId);
    const submit = (maxGasWei: bigint) =>
      legs.moveLeg({ leg, to: "submitted", maxGasWei, event, now });

    await limit(payer, reservedWei * 2n);
    expect(await codeOf(submit(reservedWei * 2n + 1n))).toBe("sponsor_budget_exceeded");
    await limit(payer, null, reservedWei);
    expect(await codeOf(submit(reservedWei + 1n))).toBe("sponsor_budget_exceeded");
    expect(await legOf(operationId)).toMatchObject({ reservedWei, leg: { state: "queued" } });
    expect(await reservedBy(payer)).toBe(reservedWei);

    await limit(payer, reservedWei * 2n);
    expect(await submit(reservedWei * 2n)).not.toBeNull();
    expect(await reservedBy(payer)).toBe(reservedWei * 2n);
    await expectBudgetsToFitLegs(database);

    // The operation was never mined, so it cost nothing. Ten concurrent calls try to end it, and
    // one succeeds.
    const { leg: sent } = await legOf(operationId);
    const ended = await Promise.all(
      Array.from({ length: 10 }, () =>
        legs.moveLeg({ leg: sent, to: "failed", event: { type: "leg.failed" }, now }),
      ),
    );
    expect(ended.filter(Boolean)).toHaveLength(1);
    expect(await reservedBy(payer)).toBe(0n);
    expect(
      (
        await prisma.sponsorUsage.findFirst({ where: { projectId: payer.projectId } })
      )?.usedWei.toFixed(0),
    ).toBe("0");
    await expectBudgetsToFitLegs(database);
  });

  test("decreases when its leg is signed at a lower price", async () => {
    const payer = await newPayer();
    const { operationId } = await execute(payer, await prepared(payer));
    await legs.begin({ projectId: payer.projectId, id: operationId }, now);
    const { leg, reservedWei } = await legOf(operationId);
    const event = { type: "leg.submitted" };
    await legs.moveLeg({ leg, to: "submitted", maxGasWei: reservedWei - 1n, event, now });
    expect(await reservedBy(payer)).toBe(reservedWei - 1n);
    await expectBudgetsToFitLegs(database);
  });
});

test("a used-up budget is full again on the next UTC day, and an operation counts for the day on which it was accepted", async () => {
  const payer = await newPayer();
  const before = now;
  const { operationId } = await execute(payer, await prepared(payer));
  const { reservedWei } = await legOf(operationId);
  const late = await prepared(payer);
  await limit(payer, reservedWei + reservedWei / 2n);
  expect(await codeOf(execute(payer, late))).toBe("sponsor_budget_exceeded");
  expect(await codeOf(prepared(payer))).toBe("sponsor_budget_exceeded");
  const budgetToday = async () =>
    (await sponsorship.budgets(payer.projectId)).find(({ chain }) => chain.id === CHAIN);
  const today = await budgetToday();
  expect(today?.resetsAt.toISOString().slice(10)).toBe("T00:00:00.000Z");

  now = new Date((today?.resetsAt.getTime() ?? 0) - 1);
  expect(await codeOf(prepared(payer))).toBe("sponsor_budget_exceeded");
  now = today?.resetsAt ?? now;
  expect(await budgetToday()).toMatchObject({
    reservedWei: 0n,
    usedWei: 0n,
    remainingWei: today?.dailyWei,
  });
  await execute(payer, await prepared(payer));

  await legs.begin({ projectId: payer.projectId, id: operationId }, now);
  const { leg } = await legOf(operationId);
  await legs.moveLeg({ leg, to: "failed", event: { type: "leg.failed" }, now });
  const days = await prisma.sponsorUsage.findMany({
    where: { projectId: payer.projectId },
    orderBy: { day: "asc" },
  });
  expect(days.map((row) => row.day.toISOString().slice(0, 10))).toEqual(
    [before, now].map((at) => at.toISOString().slice(0, 10)),
  );
  expect(days.map((row) => row.reservedWei.isZero())).toEqual([true, false]);
  await expectBudgetsToFitLegs(database);
});

test("NUMERIC columns of budgets refuse negative numbers and NaN", async () => {
  const { projectId } = await newPayer();
  const put = (column: string, value: string): Promise<unknown> =>
    database.pool.query(
      `INSERT INTO sponsor_usage (project_id, chain_id, day, reserved_wei, used_wei)
       SELECT $1, 1, '2026-01-01', CASE WHEN $2 = 'reserved' THEN $3::numeric ELSE 0 END, CASE WHEN $2 = 'used' THEN $3::numeric ELSE 0 END`,
      [projectId, column, value],
    );
  for (const column of ["reserved", "used"])
    for (const value of ["-1", "NaN"])
      await expect(put(column, value)).rejects.toThrow(/check/);
  const limits =
    "INSERT INTO sponsor_budget (project_id, chain_id, daily_wei, operation_wei, updated_at)";
  for (const values of ["-1, NULL", "NULL, 'NaN'"])
    await expect(
      database.pool.query(`${limits} VALUES ($1, 1, ${values}, now())`, [projectId]),
    ).rejects.toThrow(/check/);
});
