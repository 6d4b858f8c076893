import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, inject, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { rpc } from "@/lib/dev/devnet/json-rpc";
import { signal } from "@/lib/platform/os/process.mjs";
import { testApi } from "@/lib/dev/testing/api";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { startChainsSupervisor } from "@/lib/dev/testing/chains-supervisor";
import { testAccount, testKey } from "@/lib/dev/testing/factories";
import {
  balanceOnChain,
  fund,
  newCustomer,
  prepareQuote,
  prepareTransfer,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";
import { expectRowsPaidOnce, rowsOf, seedPayout } from "@/lib/dev/testing/wallet-payouts";
import type { Address } from "viem";

const [ONE, TWO, THREE] = [31337, 31338, 31339];
const CHAIN_IDS = [ONE, TWO, THREE];
const ROUNDS = inject("crashRounds");
const DEATHS_IN_A_ROW = 7;
const CUSTOMERS = 3;
const PAYOUT_ROWS = 10;
const PAUSE_BEFORE_KILL_MS = 1_500;
const FINAL_MS = 120_000;
const WAIT = { timeout: 60_000, interval: 50 };

const folder = mkdtempSync(join(tmpdir(), "causeway-chains-"));
const executorKey = testKey();
const chains = await startChainsSupervisor(folder, executorKey);
afterAll(async () => {
  await chains.stop();
  rmSync(folder, { recursive: true, force: true });
});
const { rpcUrls } = chains;
const api = await testApi({
  devnet: false,
  worker: true,
  variables: {
    DEVNET: "1",
    EXECUTOR_PRIVATE_KEY: `dev_${executorKey}`,
    ...Object.fromEntries(Object.entries(rpcUrls).map(([id, url]) => [`RPC_URL_${id}`, url])),
  },
});

interface Started {
  readonly operationId: string;
  readonly customer: Customer;
  readonly recipient: Address;
  readonly to: { readonly chainId: number; readonly token: string };
}

const fundedCustomer = async (): Promise<Customer> => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await Promise.all([
    fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "50000" }),
    fund(client, customer.treasury, { chainId: TWO, token: "USDC", amount: "50000" }),
    fund(client, customer.treasury, { chainId: THREE, token: "USDC", amount: "50000" }),
  ]);
  return customer;
};

/** One in three goes over the bridge and is swapped; the others are transfers on one chain. */
const startOperation = async (customer: Customer, variant: number): Promise<Started> => {
  const recipient = testAccount().address;
  const fromChainId = CHAIN_IDS[variant % CHAIN_IDS.length] ?? ONE;
  const { client } = customer.session;
  if (variant % 3 === 0) {
    const to = { chainId: fromChainId === THREE ? ONE : THREE, token: "WETH" };
    const from = [{ address: customer.treasury, chainId: TWO, token: "USDC", amount: "20" }];
    const { quoteId } = await prepareQuote(api, customer, {
      from,
      toChainId: to.chainId,
      toToken: to.token,
      toAddress: recipient,
    });
    const { operationId } = await client.call(executeSwap, { body: { quoteId } });
    return { operationId, customer, recipient, to };
  }
  const { transferId } = await prepareTransfer(api, customer, {
    fromWalletId: customer.treasuryId,
    toAddress: recipient,
    fromChainId,
    toChainId: fromChainId,
    token: "USDC",
    amount: "5",
  });
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  return { operationId, customer, recipient, to: { chainId: fromChainId, token: "USDC" } };
};

/**
 * Customers who start one operation after another, and retry what the service cannot do while a
 * chain is unavailable.
 */
const startLoad = (customers: readonly Customer[]) => {
  const started: Started[] = [];
  const running = { on: true };
  const loops = customers.map(async (customer, index) => {
    for (let turn = index; running.on; turn += 1) {
      // On a fast machine one person requests more codes here than an hour allows.
      await api.services.database.prisma.codeLimit.deleteMany();
      await startOperation(customer, turn).then(
        (one) => started.push(one),
        () => sleep(100),
      );
    }
  });
  return {
    started,
    stop: async () => {
      running.on = false;
      await Promise.all(loops);
    },
  };
};

/**
 * One payout to wallets after another, all from one treasury on the chain whose node dies most
 * often.
 */
const startPayouts = (payer: Customer) => {
  const started = { count: 0 };
  const running = { on: true };
  const { prisma } = api.services.database;
  const openPayouts = (): Promise<number> =>
    prisma.payout.count({ where: { status: "processing" } });
  const waitUntilPaid = (): Promise<void> =>
    vi.waitFor(async () => expect(await openPayouts()).toBe(0), {
      timeout: FINAL_MS,
      interval: 100,
    });
  const loop = (async () => {
    while (running.on) {
      started.count += 1;
      const batches = [0, 1, 2].map((number) => ({
        token: "USDC",
        rows: rowsOf(
          `${payer.treasury} ${String(started.count)} ${String(number)}`,
          PAYOUT_ROWS,
        ),
      }));
      await seedPayout(api.services, payer, { chainId: ONE, batches, withJob: true });
      await waitUntilPaid();
    }
  })();
  return {
    started,
    stop: async () => {
      running.on = false;
      await loop;
    },
  };
};

const answers = async (chainId: number): Promise<void> => {
  const url = rpcUrls[String(chainId)] ?? "";
  await vi.waitFor(() => rpc(url, "eth_getBlockByNumber", ["latest", false]), {
    timeout: 60_000,
    interval: 10,
  });
};

/** Resolves when the chain's node differs from `before` and answers. */
const recovered = async (chainId: number, before: number): Promise<void> => {
  await vi.waitFor(
    () => void expect(chains.nodePid(chainId)).not.toBeOneOf([before, null]),
    WAIT,
  );
  await answers(chainId);
};

const nodeOf = async (chainId: number): Promise<number> => {
  const pid = await vi.waitFor(() => {
    const now = chains.nodePid(chainId);
    if (now === null) throw new Error("There is no node.");
    return now;
  }, WAIT);
  return pid;
};

const openCount = (): Promise<number> =>
  api.services.database.prisma.operation.count({
    where: {
      status: {
        notIn: ["completed", "partially_completed", "refunded", "failed", "awaiting_approval"],
      },
    },
  });

const underLoad = async (): Promise<void> => {
  await vi.waitFor(async () => expect(await openCount()).toBeGreaterThan(0), {
    timeout: 60_000,
    interval: 10,
  });
  await sleep(Math.random() * PAUSE_BEFORE_KILL_MS);
};

const walk = () => {
  const recoveriesMs: number[] = [];
  const counted = { kills: 0 };
  const killNode = async (chainId: number): Promise<void> => {
    const pid = await nodeOf(chainId);
    const at = performance.now();
    signal(pid, "SIGKILL");
    counted.kills += 1;
    await recovered(chainId, pid);
    recoveriesMs.push(performance.now() - at);
  };
  const killHost = async (): Promise<void> => {
    const nodes = await Promise.all(CHAIN_IDS.map(nodeOf));
    const at = performance.now();
    signal(chains.hostPid(), "SIGKILL");
    counted.kills += 1;
    await Promise.all(CHAIN_IDS.map((chainId, index) => recovered(chainId, nodes[index] ?? 0)));
    recoveriesMs.push(performance.now() - at);
  };
  const killEverything = async (): Promise<void> => {
    const nodes = await Promise.all(CHAIN_IDS.map(nodeOf));
    const at = performance.now();
    for (const pid of [...nodes, chains.hostPid()]) signal(pid, "SIGKILL");
    await chains.kill();
    counted.kills += nodes.length + 2;
    await chains.start();
    await Promise.all(CHAIN_IDS.map(answers));
    recoveriesMs.push(performance.now() - at);
  };
  const killSupervisor = async (): Promise<void> => {
    const at = performance.now();
    await chains.kill();
    counted.kills += 1;
    await chains.start();
    await Promise.all(CHAIN_IDS.map(answers));
    recoveriesMs.push(performance.now() - at);
  };
  return { recoveriesMs, counted, killNode, killHost, killEverything, killSupervisor };
};

const middleOf = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

test(
  "nodes, their journals' process and the supervisor are killed under load: what is completed is on chain, once, and nothing is stuck",
  async () => {
    const customers = await Promise.all(Array.from({ length: CUSTOMERS }, fundedCustomer));
    const payer = await fundedCustomer();
    const load = startLoad(customers);
    const payouts = startPayouts(payer);
    const { recoveriesMs, counted, ...kills } = walk();
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const chainId of CHAIN_IDS) {
        await underLoad();
        await kills.killNode(chainId);
      }
      for (const kill of [kills.killHost, kills.killEverything, kills.killSupervisor]) {
        await underLoad();
        await kill();
      }
      await underLoad();
      for (let death = 0; death < DEATHS_IN_A_ROW; death += 1) await kills.killNode(ONE);
    }
    await underLoad();
    await Promise.all([load.stop(), payouts.stop()]);

    const { started } = load;
    const ends = await Promise.all(
      started.map(({ operationId, customer }) =>
        waitUntilFinal(customer.session.client, operationId, FINAL_MS),
      ),
    );
    console.log(
      `${String(counted.kills)} kills, ${String(started.length)} operations, ${String(payouts.started.count)} payouts, recovered after ` +
        `${String(Math.round(middleOf(recoveriesMs)))} ms (p50), ${String(Math.round(Math.max(...recoveriesMs)))} ms (max).`,
    );
    // A round kills each node once, their host, all five processes together, the supervisor, and
    // one node several times in a row.
    expect(counted.kills).toBe(
      ROUNDS * (CHAIN_IDS.length + 1 + (CHAIN_IDS.length + 2) + 1 + DEATHS_IN_A_ROW),
    );
    expect(started.length).toBeGreaterThan(CUSTOMERS);
    expect(payouts.started.count).toBeGreaterThan(0);
    const held = await Promise.all(
      started.map(({ recipient, to }) => {
        const token = api.services.registry.resolveToken(to.chainId, to.token).address;
        return balanceOnChain(rpcUrls[String(to.chainId)] ?? "", token, recipient);
      }),
    );
    expect(held).toEqual(ends.map(({ actual }) => BigInt(actual.received.amountBase)));
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(["completed"]));
    const treasuries = customers.map(({ treasury }) => treasury);
    await vi.waitFor(
      () => expectNothingTwiceOrForgotten(api.services, rpcUrls, treasuries),
      WAIT,
    );
    const at = { chainId: ONE, rpcUrl: rpcUrls[String(ONE)] ?? "" };
    await vi.waitFor(() => expectRowsPaidOnce(api.services, at, payer.treasury), WAIT);
    await vi.waitFor(
      async () =>
        expect(
          await api.services.database.prisma.chainTransaction.count({
            where: { status: { not: "final" } },
          }),
        ).toBe(0),
      WAIT,
    );
  },
  300_000 + 120_000 * ROUNDS,
);
