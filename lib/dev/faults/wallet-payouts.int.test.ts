import { readFileSync } from "node:fs";
import type { Hex } from "viem";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test, vi } from "vitest";
import { createChainRegistry } from "@/lib/chain/registry";
import { chainsFile } from "@/lib/platform/config/chains";
import { testApi } from "@/lib/dev/testing/api";
import { changedChainsFile } from "@/lib/dev/testing/chains-file";
import { startFaultProxy, type Rule } from "@/lib/dev/testing/fault-proxy";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { ownDevnet } from "@/lib/dev/testing/own-devnet";
import { ownPostgres } from "@/lib/dev/testing/own-postgres";
import { randomOf } from "@/lib/dev/testing/random";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import {
  expectRowsPaidOnce,
  rowsOf,
  seedPayout,
  type SeededBatch,
} from "@/lib/dev/testing/wallet-payouts";
import { startWorker, type Worker } from "@/lib/workers/runner";

const SEED = inject("testSeed");
const IS_LONG = inject("isLong");
const random = randomOf(SEED);
const CONFIRMATIONS = 5;
/** Depth of the reorganisations here; less than makes a block final. */
const DEPTH = 3;
/** Longer than an operation is valid. */
const LATER_SECONDS = 1_000;
/** Shorter than the real registry's time-out, so that a hanging node does not delay the tests. */
const RPC_TIMEOUT_MS = 2_000;
const ROWS_PER_BATCH = IS_LONG ? 100 : 4;
const BATCHES = IS_LONG ? 10 : 3;
const DATABASE_KILLS = IS_LONG ? 20 : 1;
const WAIT = { timeout: 60_000, interval: 50 };
/** Several waits, on a machine that is busy with other things. */
const TEST_MS = (IS_LONG ? 20 : 3) * WAIT.timeout;
const BROADCAST = "eth_sendRawTransaction";

const [devnet, postgres] = await Promise.all([ownDevnet(), ownPostgres()]);
const [one] = devnet.chains;
if (one === undefined) throw new Error("There is no chain.");
const proxy = await startFaultProxy(one.rpcUrl);
afterAll(() => proxy.close());
const urlOf = ({ chainId, rpcUrl }: typeof one): string =>
  chainId === one.chainId ? proxy.url : rpcUrl;
const CHAINS_FILE = changedChainsFile((chain) => {
  chain.confirmations = CONFIRMATIONS;
  chain.rpcUrls = devnet.chains.filter(({ chainId }) => chainId === chain.id).map(urlOf);
});
const { chains } = chainsFile.parse(JSON.parse(readFileSync(CHAINS_FILE, "utf8")));
const rpcVariables = Object.fromEntries(
  devnet.chains.map((each) => [`RPC_URL_${String(each.chainId)}`, urlOf(each)]),
);
const api = await testApi({
  devnet: false,
  variables: { DATABASE_URL: postgres.url, CHAINS_FILE, DEVNET: "1", ...rpcVariables },
  overrides: { registry: createChainRegistry(chains, { timeoutMs: RPC_TIMEOUT_MS }) },
});
const { services } = api;
const { prisma } = services.database;
await devnet.serve(services.config);

let customer: Customer;
let worker: Worker;
beforeAll(async () => {
  customer = await newCustomer(api);
  for (const [token, amount] of [
    ["USDC", "10000"],
    ["ETH", "1"],
  ] as const)
    await fund(customer.session.client, customer.treasury, {
      chainId: one.chainId,
      token,
      amount,
    });
});
beforeEach(() => {
  worker = startWorker(services);
});
afterEach(async () => {
  proxy.clear();
  one.flow();
  await worker.stop();
});

let payouts = 0;
const start = (
  batches?: readonly SeededBatch[],
): Promise<{ id: string; projectId: string }> => {
  payouts += 1;
  const named = (number: number): string =>
    `${String(SEED)} ${String(payouts)} ${String(number)}`;
  const all = Array.from({ length: BATCHES }, (_, number) => ({
    token: number % 2 === 0 ? "USDC" : "ETH",
    rows: rowsOf(named(number), ROWS_PER_BATCH),
  }));
  return seedPayout(services, customer, {
    chainId: one.chainId,
    batches: batches ?? all,
    withJob: true,
  });
};
const startSmall = () =>
  start([{ token: "USDC", rows: rowsOf(`${String(SEED)} small ${String(payouts)}`, 3) }]);

const batchOf = async ({ id }: { id: string }) =>
  prisma.walletPayoutBatch.findFirstOrThrow({
    where: { payoutId: id },
    orderBy: { number: "asc" },
  });

const until = (payout: { id: string }, what: Partial<Awaited<ReturnType<typeof batchOf>>>) =>
  vi.waitFor(async () => {
    const batch = await batchOf(payout);
    expect(batch).toMatchObject(what);
    return batch;
  }, WAIT);

const isHeld = async ({ id }: { id: string }): Promise<boolean> =>
  (await prisma.balanceHold.count({ where: { operationId: id, releasedAt: null } })) > 0;

/** Mines blocks until everything is final, and compares it with the chain. */
const finish = async (payout: { id: string }) => {
  one.flow();
  const timer = setInterval(() => void one.mine(2).catch(() => undefined), 500);
  try {
    await vi.waitFor(async () => {
      expect(await prisma.job.count()).toBe(0);
      expect((await prisma.payout.findUniqueOrThrow({ where: { id: payout.id } })).status).toBe(
        "completed",
      );
    }, WAIT);
  } finally {
    clearInterval(timer);
  }
  await expectRowsPaidOnce(services, one, customer.treasury);
  await expectBudgetsToFitLegs(services.database);
};

const rawOf = async (txHash: string | null): Promise<Hex> => {
  const { raw } = await prisma.chainTransaction.findFirstOrThrow({
    where: { hash: txHash ?? "" },
  });
  return raw as Hex;
};

const swallow: Rule = { fault: { kind: "swallow" }, methods: [BROADCAST] };

test(
  "a reorganisation takes a batch away: its money is held again, and it is sent again and paid once",
  async () => {
    await one.hold();
    const payout = await startSmall();
    const mined = await until(payout, { state: "mined" });
    expect(await isHeld(payout)).toBe(false);
    await one.mine(DEPTH - 1);
    await until(payout, { confirmations: DEPTH });
    proxy.on(swallow);
    await one.reorg(DEPTH);
    // `inDoubt` is true only until the batch is submitted again, which may happen between two
    // reads.
    const gone = await until(payout, { state: "sent", txHash: null, blockNumber: null });
    expect(gone.userOpHash).toBe(mined.userOpHash);
    expect(await isHeld(payout)).toBe(true);
    proxy.clear();
    await finish(payout);
    expect(await batchOf(payout)).toMatchObject({ state: "paid", attempt: 1 });
  },
  TEST_MS,
);

test(
  "a batch that a reorganisation puts into another block is followed there",
  async () => {
    await one.hold();
    const payout = await startSmall();
    const mined = await until(payout, { state: "mined" });
    await one.mine(DEPTH - 1);
    const raw = await rawOf(mined.txHash);
    await worker.stop();
    await one.reorg(DEPTH);
    // The node still has its transaction, and includes it in the next block.
    await one.client.sendRawTransaction({ serializedTransaction: raw });
    worker = startWorker(services);
    await finish(payout);
    const paid = await batchOf(payout);
    expect(paid).toMatchObject({ state: "paid", attempt: 1, txHash: mined.txHash });
    expect(paid.blockNumber?.toFixed(0)).not.toBe(mined.blockNumber?.toFixed(0));
  },
  TEST_MS,
);

test(
  "an operation that the chain never took is void once a final block is later, and the next attempt pays",
  async () => {
    const lost = proxy.on(swallow);
    const payout = await startSmall();
    const first = await until(payout, { state: "sent", attempt: 1 });
    await one.hold();
    await one.client.increaseTime({ seconds: LATER_SECONDS });
    await one.mine(1);
    // Its validity has ended, but not yet at a final block.
    await until(payout, { state: "sent", attempt: 1, inDoubt: true });
    await one.mine(CONFIRMATIONS);
    await until(payout, { attempt: 2 });
    lost.off();
    await finish(payout);
    const paid = await batchOf(payout);
    expect(paid).toMatchObject({ state: "paid", attempt: 2 });
    expect(paid.userOpHash).not.toBe(first.userOpHash);
  },
  TEST_MS,
);

const FAULTS: readonly (readonly [string, Rule])[] = [
  ["questions without an answer", { fault: { kind: "hang" }, methods: ["eth_call"], times: 4 }],
  ["HTTP 500 to everything", { fault: { kind: "status", status: 500 }, times: 15 }],
  ["nonsense", { fault: { kind: "garbage", body: "<html>" }, times: 30 }],
  [
    "a broadcast whose answer is lost",
    { fault: { kind: "lose_answer" }, methods: [BROADCAST], times: 3 },
  ],
  ["answers that are lost", { fault: { kind: "lose_answer" }, after: 5, times: 25 }],
  ["a broadcast that is swallowed", { ...swallow, times: 2 }],
  [
    "a broadcast that is refused",
    { fault: { kind: "error", message: "nonce too low" }, methods: [BROADCAST], times: 2 },
  ],
  ["a node that lags behind", { fault: { kind: "lag", blocks: 2 }, times: 60 }],
];
test.each(FAULTS)(
  "%s: every row is paid once all the same",
  async (_, rule) => {
    const active = proxy.on(rule);
    const payout = await start();
    await finish(payout);
    expect(active.hits).toBeGreaterThan(0);
  },
  TEST_MS,
);

test(
  "PostgreSQL is killed while batches are under way, and every row is paid once",
  async () => {
    let payout = await start();
    for (let kill = 0; kill < DATABASE_KILLS; kill += 1) {
      const state = ["signed", "sent", "mined", "paid"][Math.floor(random() * 4)] ?? "sent";
      await vi.waitFor(async () => {
        // The payout may have passed that state and ended.
        const reached = await prisma.walletPayoutBatch.count({
          where: { payoutId: payout.id, state },
        });
        const ended = await prisma.payout.count({
          where: { id: payout.id, status: "completed" },
        });
        expect(reached + ended).toBeGreaterThan(0);
      }, WAIT);
      await postgres.crash();
      await postgres.restart();
      await finish(payout);
      if (kill + 1 < DATABASE_KILLS) payout = await start();
    }
  },
  TEST_MS,
);
