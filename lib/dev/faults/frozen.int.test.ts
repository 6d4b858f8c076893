import { parseUnits, type Address } from "viem";
import { expect, inject, test, vi } from "vitest";
import { getOperation } from "@/lib/contracts/operations";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount, testKey } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  type Customer,
} from "@/lib/dev/testing/journey";
import { randomOf } from "@/lib/dev/testing/random";
import {
  startLife,
  type LifeOptions,
  type Point,
  type WorkerLife,
} from "@/lib/dev/testing/worker-life";
import { workerProcesses } from "@/lib/dev/testing/worker-process";

const CHAIN_ID = 31337;
const HOUR_MS = 3_600_000;
const FINAL_MS = 90_000;
/**
 * One round freezes inside the transaction that assigns nonces; further rounds freeze at random
 * points.
 */
const ROUNDS = inject("crashRounds");
const RANDOM_POINTS_MAX = 40;
const AMOUNT = "5";

const secret = (): string => `dev_${testKey().slice(2)}`;
const variables = {
  CAUSEWAY_ENV: "development",
  LOG_LEVEL: "warn",
  APP_SECRET: secret(),
  KEY_ENCRYPTION_KEY: secret(),
  EXECUTOR_PRIVATE_KEY: `dev_${testKey()}`,
};
const workers = workerProcesses();
const [api, devnet] = await Promise.all([testApi({ variables }), testDevnet()]);
const { prisma, pool } = api.services.database;
const life: Omit<LifeOptions, "dieAt"> = {
  start: workers.start,
  databaseUrl: api.services.config.databaseUrl,
  rpcUrls: devnet.rpcUrls,
  variables,
};

const usdcOf = (owner: Address): Promise<bigint> =>
  balanceOnChain(
    devnet.rpcUrls[String(CHAIN_ID)] ?? "",
    api.services.registry.resolveToken(CHAIN_ID, "USDC").address,
    owner,
  );

const fundedCustomer = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN_ID,
    token: "USDC",
    amount: "1000",
  });
  return customer;
};

interface Started {
  readonly operationId: string;
  readonly customer: Customer;
  readonly recipient: Address;
}

const startOperation = async (customer: Customer): Promise<Started> => {
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: CHAIN_ID, token: "USDC", amount: AMOUNT }],
    toChainId: CHAIN_ID,
    toToken: "USDC",
    toAddress: recipient,
  });
  const { operationId } = await customer.session.client.call(executeSwap, {
    body: { quoteId },
  });
  return { operationId, customer, recipient };
};

const waitUntilCompleted = (started: readonly Started[]): Promise<void> =>
  vi.waitFor(
    async () => {
      for (const { operationId, customer } of started) {
        const operation = await customer.session.client.call(getOperation, {
          params: { id: operationId },
        });
        expect(operation.status, JSON.stringify(operation)).toBe("completed");
      }
    },
    { timeout: FINAL_MS, interval: 200 },
  );

const expectPaidOnce = async (started: readonly Started[]): Promise<void> => {
  for (const { recipient } of started)
    expect(await usdcOf(recipient)).toBe(parseUnits(AMOUNT, 6));
  const treasuries = [...new Set(started.map(({ customer }) => customer.treasury))];
  await expectNothingTwiceOrForgotten(api.services, devnet.rpcUrls, treasuries);
  await vi.waitFor(
    async () =>
      expect(await prisma.chainTransaction.count({ where: { status: { not: "final" } } })).toBe(
        0,
      ),
    { timeout: FINAL_MS, interval: 200 },
  );
};

/** A worker that freezes at a point of its work. `frozen` resolves when that has happened. */
const startFreezing = async (isAt: (point: Point, count: number) => boolean) => {
  const own: { life: WorkerLife | null; points: number; isFrozen: boolean } = {
    life: null,
    points: 0,
    isFrozen: false,
  };
  own.life = await startLife({
    ...life,
    dieAt: (point) => {
      if (own.isFrozen || !isAt(point, (own.points += 1))) return false;
      own.isFrozen = true;
      own.life?.freeze();
      return false;
    },
  });
  const frozen = (): Promise<void> =>
    vi.waitFor(() => expect(own.isFrozen).toBe(true), { timeout: FINAL_MS, interval: 20 });
  return { life: own.life, frozen };
};

/** Number of sessions that the server has terminated, including those of idle transactions. */
const sessionsCut = async (): Promise<number> => {
  const { rows } = await pool.query<{ cut: string }>(
    "SELECT sessions_fatal AS cut FROM pg_stat_database WHERE datname = current_database()",
  );
  return Number(rows[0]?.cut);
};

/**
 * Freezes a worker, lets another one do all work, then continues the first one and lets it do the
 * following work by itself.
 */
const freezeAndThaw = async (
  isAt: (point: Point, count: number) => boolean,
): Promise<number> => {
  const customers = await Promise.all([fundedCustomer(), fundedCustomer()]);
  const [victim, survivor] = await Promise.all([
    startFreezing(isAt),
    startLife({ ...life, dieAt: () => false }),
  ]);
  const started = await Promise.all(customers.map(startOperation));
  await victim.life.begin();
  await victim.frozen();
  const frozenAtMs = performance.now();
  await survivor.begin();
  await waitUntilCompleted(started);
  started.push(...(await Promise.all(customers.map(startOperation))));
  await waitUntilCompleted(started);
  const recoveredMs = performance.now() - frozenAtMs;

  victim.life.thaw();
  survivor.kill();
  await survivor.ended;
  started.push(...(await Promise.all(customers.map(startOperation))));
  await waitUntilCompleted(started);
  await expectPaidOnce(started);
  victim.life.kill();
  await victim.life.ended;
  return recoveredMs;
};

test(
  "a worker that is frozen inside the transaction that gives nonces is cut off, the others go on, and when it wakes it does nothing twice",
  async () => {
    const seed = inject("testSeed");
    const random = randomOf(seed);
    const cutBefore = await sessionsCut();
    const recoveredMs = [
      await freezeAndThaw(({ label }) => label === "INSERT INTO chain_transaction"),
    ];
    // Only the server itself can have ended the transaction.
    await vi.waitFor(async () => expect(await sessionsCut()).toBeGreaterThan(cutBefore), {
      timeout: FINAL_MS,
    });
    for (let round = 1; round < ROUNDS; round += 1) {
      const at = 1 + Math.floor(random() * RANDOM_POINTS_MAX);
      recoveredMs.push(await freezeAndThaw((_, count) => count === at));
    }
    const sorted = recoveredMs.map(Math.round).sort((a, b) => a - b);
    const [p50, max] = [sorted[Math.floor(sorted.length / 2)] ?? 0, sorted.at(-1) ?? 0];
    console.log(
      `Seed ${String(seed)}: ${String(sorted.length)} freezes, every operation completed once; recovery p50 ${String(p50)} ms, max ${String(max)} ms.`,
    );
  },
  300_000 * ROUNDS,
);

test.each([HOUR_MS, -HOUR_MS])(
  "a worker whose machine's clock is %d ms ahead completes operations",
  async (clockAheadMs) => {
    const customer = await fundedCustomer();
    const worker = await startLife({ ...life, clockAheadMs, dieAt: () => false });
    await worker.begin();
    const started = [await startOperation(customer), await startOperation(customer)];
    await waitUntilCompleted(started);
    await expectPaidOnce(started);
    const { rows } = await pool.query<{ ahead: number }>(
      "SELECT clock_ahead_ms AS ahead FROM instance WHERE works AND id LIKE $1",
      [`%:${String(worker.pid)}:%`],
    );
    expect(Math.round((rows[0]?.ahead ?? 0) / 60_000)).toBe(clockAheadMs / 60_000);
    worker.kill();
    await worker.ended;
  },
  200_000,
);
