import { randomBytes } from "node:crypto";
import { expect, test, vi } from "vitest";
import { executeSwap, prepareSwap } from "@/lib/contracts/swap";
import { createTransfer } from "@/lib/contracts/transfers";
import { isFinal } from "@/lib/core/status";
import { createDatabase } from "@/lib/platform/db/client";
import { asOwner } from "@/lib/dev/testing/database";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import { createLegRepository } from "./step-repository";
import { createOperationsRepository } from "./repository";
import type { LegState } from "./summary";
import { afterFile } from "@/lib/dev/testing/after-file";

const CHAIN = 31337;
const OTHER_LEGS = 400;
const OPERATIONS = 12;

// Without a worker, so that accepted operations do not change.
const api = await testApi();
const { database, sponsorship, config } = api.services;
const { prisma } = database;

const instanceOf = (options: string | null = null) => {
  const url = new URL(config.databaseUrl);
  if (options !== null) url.searchParams.set("options", options);
  const own = createDatabase(url.toString(), { poolSize: 4 });
  afterFile(() => own.close());
  return {
    own,
    repository: createOperationsRepository(own, sponsorship),
    legs: createLegRepository(own, sponsorship),
  };
};

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

const hash = (): `0x${string}` => `0x${randomBytes(32).toString("hex")}`;

const NEXT: Partial<Record<LegState, LegState>> = {
  queued: "submitted",
  submitted: "source_seen",
  source_seen: "completed",
};

/**
 * Drives an operation, as a worker would if the chain answered at once.
 * @returns how many of the steps succeeded
 */
const drive = async (
  { repository, legs }: ReturnType<typeof instanceOf>,
  operationId: string,
): Promise<number> => {
  for (let steps = 0; ;) {
    const operation = await repository.find(operationId);
    if (operation === null) throw new Error("The operation is stored.");
    if (isFinal(operation.status)) return steps;
    const now = new Date();
    const [leg] = operation.legs;
    const to = leg === undefined ? undefined : NEXT[leg.state];
    if (operation.status === "pending")
      steps += (await legs.begin(operation, now)) === null ? 0 : 1;
    else if (leg !== undefined && to !== undefined) {
      const change =
        to === "source_seen"
          ? { sourceTxHash: hash(), gasCostWei: 1n, gasPaidBy: "sponsor" as const }
          : {};
      const touched = await legs.touchLeg(leg, { sourceConfirmations: 1 }, now);
      const move = { to, change, event: { type: `leg.${to}` }, now };
      if (touched !== null && (await legs.moveLeg({ leg: touched, ...move })) !== null)
        steps += 1;
    }
  }
};

test("two instances that drive the same operations in opposite order take each step once, and end each reservation once", async () => {
  const ids: string[] = [];
  for (let count = 0; count < OPERATIONS; count += 1) ids.push(await accepted());
  const [one, other] = [instanceOf(), instanceOf()];
  const steps = await Promise.all([
    ...ids.map((id) => drive(one, id)),
    ...ids.toReversed().map((id) => drive(other, id)),
  ]);
  expect(steps.reduce((sum, count) => sum + count, 0)).toBe(OPERATIONS * 4);
  const events = await prisma.operationEvent.findMany({
    where: { operationId: { in: ids } },
    orderBy: { seq: "asc" },
  });
  for (const id of ids) {
    const own = events.filter(({ operationId }) => operationId === id);
    expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index + 1));
    expect(own.filter(({ type }) => type === "leg.completed")).toHaveLength(1);
  }
  expect(
    await prisma.balanceHold.count({ where: { operationId: { in: ids }, releasedAt: null } }),
  ).toBe(0);
  await expectBudgetsToFitLegs(database);
  const [usage] = await prisma.sponsorUsage.findMany({ where: { chainId: CHAIN } });
  expect(usage?.reservedWei.toFixed(0)).toBe("0");
  expect(usage?.usedWei.toFixed(0)).toBe(String(OPERATIONS));
  const [stats] = await prisma.$queryRaw<{ deadlocks: bigint }[]>`
    SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`;
  expect(stats?.deadlocks).toBe(0n);
});

test("writes to several legs lock them in the order of their ids, however the rows are found", async () => {
  const operations = [await accepted(), await accepted()];
  // A large table, and a query plan that reads it in its physical order.
  const { own, repository, legs } = instanceOf(
    "-c enable_nestloop=off -c enable_mergejoin=off",
  );
  const read = await Promise.all(operations.map((id) => repository.find(id)));
  const [first, second] = read
    .flatMap((each) => each?.legs ?? [])
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  if (first === undefined || second === undefined) throw new Error("Each operation has a leg.");
  await prisma.$executeRaw`
    INSERT INTO operation_leg
    SELECT (jsonb_populate_record(l, jsonb_build_object('id', l.id || '-' || n, 'position', n, 'state', 'completed'))).*
    FROM operation_leg l, generate_series(1, ${OTHER_LEGS}::int) AS n WHERE l.id = ${second.id}`;
  // The new version of the row is stored after the other rows.
  const moved = await legs.touchLeg(first, { sourceConfirmations: 1 }, new Date());
  await asOwner(api.services.config.databaseUrl, "ANALYZE operation_leg");
  if (moved === null) throw new Error("Nobody else writes to it.");

  const blocker = await database.pool.connect();
  try {
    await blocker.query("BEGIN");
    await blocker.query("SELECT 1 FROM operation_leg WHERE id = $1 FOR UPDATE", [first.id]);
    const touched = Promise.all([
      legs.touchLeg(second, { sourceConfirmations: 2 }, new Date()),
      legs.touchLeg(moved, { sourceConfirmations: 2 }, new Date()),
    ]);
    await vi.waitFor(async () => {
      const [waiting] = await prisma.$queryRaw<{ count: number }[]>`
        SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      expect(waiting?.count).toBe(1);
    }, 20_000);
    const free =
      await prisma.$queryRaw`SELECT id FROM operation_leg WHERE id = ${second.id} FOR UPDATE SKIP LOCKED`;
    expect(free).toEqual([{ id: second.id }]);
    await blocker.query("COMMIT");
    expect((await touched).map((leg) => leg?.sourceConfirmations)).toEqual([2, 2]);
  } finally {
    // A transaction that a failure left open ends with its connection.
    blocker.release(true);
  }
  expect(own.pool.waitingCount).toBe(0);
});
