import type { Address } from "viem";
import { expect, inject, test, vi } from "vitest";
import { testApi } from "@/lib/dev/testing/api";
import { createCrashWalk } from "@/lib/dev/testing/crash-walk";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { startOddPayouts } from "@/lib/dev/testing/odd-payouts";
import { createPayoutLives, PAYOUT_STEPS } from "@/lib/dev/testing/payout-lives";
import { randomOf } from "@/lib/dev/testing/random";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import {
  expectRowsPaidOnce,
  rowsOf,
  seedPayout,
  type SeededBatch,
} from "@/lib/dev/testing/wallet-payouts";
import { startLife, type Point, type WorkerLife } from "@/lib/dev/testing/worker-life";
import { workerProcesses } from "@/lib/dev/testing/worker-process";

const ONE = 31337;
const IS_LONG = inject("isLong");
const SEED = inject("testSeed");
const random = randomOf(SEED);
/**
 * `npm test` kills small payouts once at each step, the long run kills payouts of a thousand rows
 * many times. The printed seed gives the order.
 */
const WALK_MS = 400_000;
const RANDOM_KILLS = 40;
/** Minimum number of kills; the walk continues beyond its time until then. */
const WALK_KILLS_MIN = 40;
const KILLS_PER_STEP = IS_LONG ? 20 : 1;
const ROWS_PER_BATCH = IS_LONG ? 100 : 3;
const BATCHES = IS_LONG ? 10 : 3;
const IN_FLIGHT = 1;
const SETTLE_MS = 90_000;
/** Time limit of one life, including the rows that earlier lives left. */
const KILL_MS = 30_000;

const {
  devnet,
  rpcUrl,
  odd,
  blocked: BLOCKED,
  variables,
} = await startOddPayouts(ONE, { usdPegged: false });
const workers = workerProcesses();
const api = await testApi({ variables });
const { services } = api;
const { prisma } = services.database;
const life = {
  start: workers.start,
  databaseUrl: services.config.databaseUrl,
  rpcUrls: devnet.rpcUrls,
  variables,
};

const payer = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "10000" });
  await fund(client, customer.treasury, { chainId: ONE, token: "ETH", amount: "1" });
  await odd.mint(customer.treasury, 10n ** 12n);
  return customer;
};

const { openCount, waitUntilAllFinal, endLeasesOf, loadLife, liveUntil, finishAll } =
  createPayoutLives({
    services,
    life,
  });

let payouts = 0;

/**
 * Batches that alternate between three tokens. The odd token refuses one recipient, so its batch
 * loses that row.
 */
const batchesOf = (name: string): SeededBatch[] =>
  Array.from({ length: BATCHES }, (_, number) => {
    const token = ["USDC", "ODD", "ETH"][number % 3] ?? "USDC";
    const rows = rowsOf(`${String(SEED)} ${name} ${String(number)}`, ROWS_PER_BATCH);
    return {
      token,
      rows: token === "ODD" ? [...rows, { recipient: BLOCKED, amountBase: 7n }] : rows,
    };
  });

const startPayout = async (customer: Customer): Promise<void> => {
  payouts += 1;
  await seedPayout(services, customer, {
    chainId: ONE,
    batches: batchesOf(String(payouts)),
    withJob: true,
  });
};

const expectAllIsRight = async (treasuries: readonly Address[]): Promise<void> => {
  for (const treasury of treasuries)
    await expectRowsPaidOnce(services, { chainId: ONE, rpcUrl }, treasury);
  await expectBudgetsToFitLegs(services.database);
  expect(await prisma.sponsorUsage.count({ where: { reservedWei: { gt: 0 } } })).toBe(0);
};

/** Runs one life after another, each killed at the first point at which none was killed before. */
const walkThroughAllPoints = async (): Promise<void> => {
  const customers = await Promise.all([payer(), payer()]);
  const startOne = (): Promise<void> => startPayout(customers[payouts % 2] ?? customers[0]);
  const walk = createCrashWalk({
    life,
    randomKills: RANDOM_KILLS,
    budgetMs: WALK_MS,
    killsMin: WALK_KILLS_MIN,
    random,
    onDeath: async (pid) => {
      await expectBudgetsToFitLegs(services.database);
      await endLeasesOf(pid);
    },
  });
  await startOne();
  await walk.survey(waitUntilAllFinal);
  const walking = { on: true };
  const run = walk.run().finally(() => (walking.on = false));
  while (walking.on) {
    if ((await openCount()) < IN_FLIGHT) await startOne();
    else await Promise.race([run, new Promise((resolve) => setTimeout(resolve, 100))]);
  }
  const isThrough = await run;
  await finishAll();
  const killed = [...walk.kills.values()].reduce((sum, each) => sum + each, 0);
  console.log(
    `Seed ${String(SEED)}: ${String(killed)} kills at ${String(walk.kills.size)} points, ${String(payouts)} payouts. ` +
      `Points not met: ${walk.missed().join("; ") || "none"}`,
  );
  await expectAllIsRight(customers.map(({ treasury }) => treasury));
  expect(killed).toBeGreaterThanOrEqual(WALK_KILLS_MIN);
  // On a busy machine the walk may not reach every point in time; the reached points are checked in
  // any case.
  if (isThrough) expect(walk.missed()).toEqual([]);
};
// The walk takes minutes, so it runs only in the long form.
if (IS_LONG)
  test(
    "a worker killed at every point of its work pays every row once",
    walkThroughAllPoints,
    WALK_MS + WALK_KILLS_MIN * KILL_MS + 2 * SETTLE_MS,
  );

/** The steps at which to kill in random order, each as often as needed. */
const kills = Object.entries(PAYOUT_STEPS)
  .flatMap(([name, is]) =>
    Array.from({ length: KILLS_PER_STEP }, () => ({ name, is, order: random() })),
  )
  .sort((one, other) => one.order - other.order);

test(
  "a worker killed at every step of payouts to wallets pays every row once",
  async () => {
    const customer = await payer();
    const met = new Map<string, number>();
    let standby = loadLife();
    for (const { name, is } of kills) {
      const loaded = standby;
      standby = loadLife();
      // Payouts of earlier lives may have passed the step already, so each kill gets a new payout.
      await startPayout(customer);
      const nth = name === "finish" ? 1 : 1 + Math.floor(random() * BATCHES);
      if (await liveUntil(loaded, { is, nth })) met.set(name, (met.get(name) ?? 0) + 1);
      await expectBudgetsToFitLegs(services.database);
    }
    const spare = await standby.life;
    spare.kill();
    await spare.ended;
    await finishAll();
    const told = [...met].map(([name, times]) => `${name} ${String(times)}`).join(", ");
    console.log(`Seed ${String(SEED)}: ${String(payouts)} payouts; kills at ${told}.`);
    await expectAllIsRight([customer.treasury]);
    expect([...met.keys()].sort()).toEqual(Object.keys(PAYOUT_STEPS).sort());
  },
  kills.length * KILL_MS + SETTLE_MS,
);

test(
  "an instance that was frozen while another one paid everything pays nothing again",
  async () => {
    const customer = await payer();
    await startPayout(customer);
    const frozen: { life: WorkerLife | null; at: Point | null } = { life: null, at: null };
    const at = 1 + Math.floor(random() * 40);
    let points = 0;
    const victim = await startLife({
      ...life,
      dieAt: (point) => {
        points += 1;
        if (points === at) {
          frozen.at = point;
          frozen.life?.freeze();
        }
        return false;
      },
    });
    frozen.life = victim;
    await victim.begin();
    await vi.waitFor(() => expect(frozen.at).not.toBeNull(), {
      timeout: SETTLE_MS,
      interval: 20,
    });
    await endLeasesOf(victim.pid);
    await finishAll();
    victim.thaw();
    // The continued worker also drives the other worker's payout.
    await startPayout(customer);
    await waitUntilAllFinal();
    victim.kill();
    await victim.ended;
    console.log(
      `Seed ${String(SEED)}: frozen at ${frozen.at?.stage ?? ""} ${frozen.at?.label ?? ""}.`,
    );
    await expectAllIsRight([customer.treasury]);
  },
  3 * SETTLE_MS,
);
