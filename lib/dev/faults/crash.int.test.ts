import { createPublicClient, http, parseUnits, type Address } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { expect, inject, test, vi } from "vitest";
import { getOperation } from "@/lib/contracts/operations";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { createCrashWalk } from "@/lib/dev/testing/crash-walk";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount, testKey } from "@/lib/dev/testing/factories";
import { ignoreDepositsOf } from "@/lib/dev/testing/hub";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  type Customer,
  type QuoteBody,
} from "@/lib/dev/testing/journey";
import { POINT_KINDS } from "@/lib/dev/testing/point-kind";
import { randomOf } from "@/lib/dev/testing/random";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import { startLife } from "@/lib/dev/testing/worker-life";
import { workerProcesses } from "@/lib/dev/testing/worker-process";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
/**
 * Short enough to wait for a refund, long enough for a deposit whose worker is killed a few times
 * on the way.
 */
const FILL_DEADLINE_SECONDS = 12;
const FUNDS = { USDC: 2_000, DAI: 2_000 };
/**
 * The long run kills at every point; `npm test` kills once at each kind of point, at places that
 * the seed chooses.
 */
const IS_LONG = inject("isLong");
const ROUNDS = inject("crashRounds");
const RANDOM_KILLS = IS_LONG ? 10 * ROUNDS : 2;
/** The long walk has about this many points. Fewer would mean that the survey missed work. */
const LONG_KILLS_MIN = 40;
const WALK_MS = IS_LONG ? 900_000 + 60_000 * ROUNDS : 300_000;
const IN_FLIGHT = 4;
const SETTLE_MS = 60_000;
/** A dead worker's jobs are free after this time (lib/platform/jobs). */
const LEASE_SECONDS = 8;

const secret = (): string => `dev_${testKey().slice(2)}`;
const executorKey = testKey();
const variables = {
  CAUSEWAY_ENV: "development",
  LOG_LEVEL: "warn",
  CHAINS_FILE: changedChainsFile(({ contracts: { across } }) => {
    if (across) across.fillDeadlineSeconds = FILL_DEADLINE_SECONDS;
  }),
  APP_SECRET: secret(),
  KEY_ENCRYPTION_KEY: secret(),
  EXECUTOR_PRIVATE_KEY: `dev_${executorKey}`,
};
const workers = workerProcesses();
const [api, devnet] = await Promise.all([testApi({ variables }), testDevnet()]);
const { prisma, pool } = api.services.database;
const life = {
  start: workers.start,
  databaseUrl: api.services.config.databaseUrl,
  rpcUrls: devnet.rpcUrls,
  variables,
};

const tokenOf = (chainId: number, symbol: string): Address | "native" =>
  api.services.registry.resolveToken(chainId, symbol).address;
const balance = (chainId: number, symbol: string, owner: Address): Promise<bigint> =>
  balanceOnChain(devnet.rpcUrls[String(chainId)] ?? "", tokenOf(chainId, symbol), owner);

const fundedCustomer = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  await Promise.all([
    fund(customer.session.client, customer.treasury, {
      chainId: ONE,
      token: "USDC",
      amount: String(FUNDS.USDC),
    }),
    fund(customer.session.client, customer.treasury, {
      chainId: TWO,
      token: "DAI",
      amount: String(FUNDS.DAI),
    }),
  ]);
  return customer;
};

interface Started {
  readonly operationId: string;
  readonly customer: Customer;
  readonly recipient: Address;
  readonly to: { readonly chainId: number; readonly token: string };
}

/**
 * Two sources on two chains: both over the bridge and swapped on the destination, or one over the
 * bridge and one swapped on its own chain.
 */
const DESTINATIONS = [
  { chainId: THREE, token: "WETH" },
  { chainId: TWO, token: "USDC" },
] as const;

const startOperation = async (customer: Customer, variant: number): Promise<Started> => {
  const to = DESTINATIONS[variant % DESTINATIONS.length] ?? DESTINATIONS[0];
  const recipient = testAccount().address;
  const body: QuoteBody = {
    from: [
      { address: customer.treasury, chainId: ONE, token: "USDC", amount: "25" },
      { address: customer.treasury, chainId: TWO, token: "DAI", amount: "20" },
    ],
    toChainId: to.chainId,
    toToken: to.token,
    toAddress: recipient,
  };
  const { quoteId } = await prepareQuote(api, customer, body);
  const { operationId } = await customer.session.client.call(executeSwap, {
    body: { quoteId },
  });
  return { operationId, customer, recipient, to };
};

const FINAL = ["completed", "partially_completed", "refunded", "failed"];

const openCount = (): Promise<number> =>
  prisma.operation.count({ where: { status: { notIn: FINAL } } });

const waitUntilAllFinal = (timeout: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const open = await prisma.operation.findMany({
        where: { status: { notIn: FINAL } },
        select: { id: true, status: true, subStatus: true, legs: { select: { state: true } } },
      });
      if (open.length > 0)
        throw new Error(`Not final after ${String(timeout)} ms: ${JSON.stringify(open)}`);
      expect(await prisma.job.count()).toBe(0);
    },
    { timeout, interval: 100 },
  );

/**
 * Frees the jobs of a dead worker at once. The test of two instances waits for the real end of a
 * lease.
 */
const endLeasesOf = async (pid: number): Promise<void> => {
  await pool.query(
    "UPDATE job SET locked_until = now() - interval '1 second' WHERE locked_by LIKE $1",
    [`%:${String(pid)}:%`],
  );
};

const expectRecipientPaidOnce = async ({
  operationId,
  customer,
  recipient,
  to,
}: Started): Promise<string> => {
  const operation = await customer.session.client.call(getOperation, {
    params: { id: operationId },
  });
  expect(["completed", "partially_completed", "refunded"], JSON.stringify(operation)).toContain(
    operation.status,
  );
  expect(await balance(to.chainId, to.token, recipient)).toBe(
    BigInt(operation.actual.received.amountBase),
  );
  const events = await prisma.operationEvent.findMany({
    where: { operationId },
    orderBy: { seq: "asc" },
  });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(events.at(-1)?.type).toBe(`operation.${operation.status}`);
  return operation.status;
};

/**
 * Checks that the treasury is debited by exactly the amounts that its legs spent, minus the
 * refunds, in base units.
 */
const expectTreasuryDebited = async ({ treasury }: Customer): Promise<void> => {
  const legs = await prisma.operationLeg.findMany({ where: { walletAddress: treasury } });
  const out = (chainId: number): bigint =>
    legs
      .filter((leg) => leg.sourceChainId === chainId)
      .reduce(
        (sum, leg) =>
          sum + BigInt(String(leg.spentBase ?? 0)) - BigInt(String(leg.refundedBase ?? 0)),
        0n,
      );
  expect(await balance(ONE, "USDC", treasury)).toBe(
    parseUnits(String(FUNDS.USDC), 6) - out(ONE),
  );
  expect(await balance(TWO, "DAI", treasury)).toBe(
    parseUnits(String(FUNDS.DAI), 18) - out(TWO),
  );
};

/**
 * Checks that every transaction that the executor signed is on its chain, and no nonce was skipped.
 */
const expectExecutorSettled = async (): Promise<void> => {
  const address = privateKeyToAddress(executorKey);
  await vi.waitFor(
    async () =>
      expect(await prisma.chainTransaction.count({ where: { status: { not: "final" } } })).toBe(
        0,
      ),
    { timeout: SETTLE_MS, interval: 200 },
  );
  for (const { chainId, next } of await prisma.signerNonce.findMany({ where: { address } })) {
    const client = createPublicClient({ transport: http(devnet.rpcUrls[String(chainId)]) });
    expect(BigInt(await client.getTransactionCount({ address }))).toBe(next);
  }
};

test(
  "a worker killed at every kind of point of its work sends nothing twice and forgets nothing",
  async () => {
    const seed = inject("testSeed");
    const customers = await Promise.all([fundedCustomer(), fundedCustomer(), fundedCustomer()]);
    // The deposits of the last customer are not filled, so they are refunded.
    await ignoreDepositsOf(customers[2].treasury);
    const started: Started[] = [];
    const startOne = async (): Promise<void> => {
      const customer = customers[started.length % customers.length] ?? customers[0];
      started.push(
        await startOperation(customer, Math.floor(started.length / customers.length)),
      );
    };
    const walk = createCrashWalk({
      life,
      randomKills: RANDOM_KILLS,
      ...(IS_LONG ? {} : { kinds: POINT_KINDS }),
      random: randomOf(seed),
      onDeath: async (pid) => {
        await expectBudgetsToFitLegs(api.services.database);
        await endLeasesOf(pid);
      },
    });
    for (const stage of IS_LONG ? ["before", "after"] : [])
      await walk.killAt(`${stage} INSERT INTO deposit_scan`);
    await startOne();
    if (IS_LONG) await walk.survey(() => waitUntilAllFinal(SETTLE_MS));

    const walkStart = Date.now();
    const walking = { on: true };
    const run = walk.run().finally(() => (walking.on = false));
    while (walking.on) {
      if ((await openCount()) < IN_FLIGHT) await startOne();
      else await Promise.race([run, new Promise((resolve) => setTimeout(resolve, 100))]);
    }
    await run;
    const walked = Date.now() - walkStart;

    const last = await startLife({ ...life, dieAt: () => false });
    await last.begin();
    await waitUntilAllFinal(SETTLE_MS);
    await expectExecutorSettled();
    last.kill();
    await last.ended;

    const killed = [...walk.kills.values()].reduce((sum, each) => sum + each, 0);
    console.log(
      `Seed ${String(seed)}: ${String(killed)} kills at ${String(walk.kills.size)} points in ${String(walked)} ms, ` +
        `${String(started.length)} operations. Points not met: ${walk.missed().join("; ") || "none"}`,
    );
    const statuses = await Promise.all(started.map(expectRecipientPaidOnce));
    expect(statuses).toContain("completed");
    await Promise.all(customers.map(expectTreasuryDebited));
    const treasuries = customers.map(({ treasury }) => treasury);
    await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, treasuries);
    await expectBudgetsToFitLegs(api.services.database);
    expect(await prisma.sponsorUsage.count({ where: { reservedWei: { gt: 0 } } })).toBe(0);
    expect(await prisma.sponsorUsage.count({ where: { usedWei: { gt: 0 } } })).toBeGreaterThan(
      0,
    );
    expect(walk.missed()).toEqual([]);
    expect([...walk.killsByKind().keys()]).toEqual(expect.arrayContaining([...POINT_KINDS]));
    expect(killed).toBeGreaterThanOrEqual(
      IS_LONG ? LONG_KILLS_MIN : POINT_KINDS.length + RANDOM_KILLS,
    );
  },
  WALK_MS + 120_000,
);

/**
 * The jobs that instances hold, and the seconds until the lease of the last one ends, by the
 * database's clock.
 */
const heldJobs = async (): Promise<{ count: number; seconds: number }> => {
  const { rows } = await pool.query<{ count: number; seconds: number }>(
    "SELECT count(*)::int AS count, coalesce(max(extract(epoch FROM locked_until - now())), 0)::float8 AS seconds FROM job WHERE locked_by IS NOT NULL",
  );
  return rows[0] ?? { count: 0, seconds: 0 };
};

test("when one of two instances is killed during its work, the other takes over its jobs after the lease and finishes all of it", async () => {
  const customers = await Promise.all([fundedCustomer(), fundedCustomer(), fundedCustomer()]);
  const [victim, survivor] = await Promise.all(
    [0, 1].map(() => startLife({ ...life, dieAt: () => false })),
  );
  if (!victim || !survivor) throw new Error("Two lives were asked for.");
  const started: Started[] = [];
  // A customer gets one code at a time.
  for (const turn of [0, 1])
    started.push(
      ...(await Promise.all(
        customers.map((customer, index) => startOperation(customer, turn + index)),
      )),
    );
  await victim.begin();
  await vi.waitFor(async () => expect((await heldJobs()).count).toBeGreaterThan(0), {
    timeout: SETTLE_MS,
    interval: 10,
  });
  await survivor.begin();
  victim.kill();
  await victim.ended;
  expect(await openCount()).toBeGreaterThan(0);
  // The dead instance holds no job for longer than the lease, so the other instance can have each
  // of them by then.
  expect((await heldJobs()).seconds).toBeLessThanOrEqual(LEASE_SECONDS);
  await waitUntilAllFinal(SETTLE_MS);
  await expectExecutorSettled();
  survivor.kill();
  await survivor.ended;
  for (const one of started) await expectRecipientPaidOnce(one);
  await Promise.all(customers.map(expectTreasuryDebited));
  const treasuries = customers.map(({ treasury }) => treasury);
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, treasuries);
}, 240_000);
