import { expect, inject, test, vi } from "vitest";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { getReserves } from "@/lib/contracts/reserves";
import { verifyLedger } from "@/lib/books/ledger/verify";
import { testApi } from "@/lib/dev/testing/api";
import { newCustomer } from "@/lib/dev/testing/journey";
import { startOddPayouts } from "@/lib/dev/testing/odd-payouts";
import { createPayoutLives, PAYOUT_STEPS } from "@/lib/dev/testing/payout-lives";
import { idOf, pay, read, row } from "@/lib/dev/testing/payout-requests";
import { randomOf } from "@/lib/dev/testing/random";
import { expectBudgetsToFitLegs } from "@/lib/dev/testing/sponsor-books";
import { expectRowsPaidOnce, nobody } from "@/lib/dev/testing/wallet-payouts";
import { workerProcesses } from "@/lib/dev/testing/worker-process";

const ONE = 31337;
const IS_LONG = inject("isLong");
const SEED = inject("testSeed");
const random = randomOf(SEED);
/**
 * `npm test` kills once at each step, the long run several times. The printed seed determines the
 * order.
 */
const KILLS_PER_STEP = IS_LONG ? 8 : 1;
const KILL_MS = 30_000;
const SETTLE_MS = 90_000;
/** Number of paid rows with 1 unit each. One more row of 0.5 is refused and returned. */
const PAID_ROWS = 2;

const {
  devnet,
  rpcUrl,
  odd,
  blocked: BLOCKED,
  variables,
} = await startOddPayouts(ONE, { usdPegged: true });
const workers = workerProcesses();
const api = await testApi({ variables });
const { services } = api;
const life = {
  start: workers.start,
  databaseUrl: services.config.databaseUrl,
  rpcUrls: devnet.rpcUrls,
  variables,
};
const { loadLife, liveUntil, finishAll } = createPayoutLives({ services, life });

const kills = Object.entries(PAYOUT_STEPS)
  .flatMap(([name, is]) =>
    Array.from({ length: KILLS_PER_STEP }, () => ({ name, is, order: random() })),
  )
  .sort((one, other) => one.order - other.order);

/** Enough for every withdrawal with its refused row, in whole units of the token. */
const FUNDED = 3 * kills.length;

const withAccount = async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  // More than the account has, because payments that the chain has made and no worker has settled
  // are missing there but still held.
  await odd.mint(customer.treasury, 2n * BigInt(FUNDED) * 1_000_000n);
  const { id: account } = await client.call(createGlobalAccount, { body: { currency: "ODD" } });
  const funding = {
    params: { id: account },
    body: { amount: String(FUNDED), currency: "ODD" },
  };
  await vi.waitFor(() => client.call(fundGlobalAccount, funding), {
    timeout: 20_000,
    interval: 200,
  });
  const { client: key } = await api.createKey(customer.session, {
    otp: "exempt",
    dailyCapUsd: "1000000",
  });
  return { customer, client, account, key };
};

test(
  "a worker killed at every step of withdrawals pays every row once, and debits the account once",
  async () => {
    const { customer, client, account, key } = await withAccount();
    const ids: string[] = [];
    const withdraw = async (): Promise<void> => {
      const name = (index: number) =>
        nobody(`${String(SEED)} withdrawal ${String(ids.length)} ${String(index)}`);
      const rows = Array.from({ length: PAID_ROWS }, (_, index) =>
        row(name(index), "1", { token: "ODD" }),
      );
      const refused = row(BLOCKED, "0.5", { token: "ODD" });
      const body = { sourceAccountId: account, allowDuplicates: true };
      ids.push(idOf(await pay(key, [...rows, refused], body)));
    };
    const met = new Map<string, number>();
    let standby = loadLife();
    for (const { name, is } of kills) {
      const loaded = standby;
      standby = loadLife();
      await withdraw();
      if (await liveUntil(loaded, { is, nth: 1 })) met.set(name, (met.get(name) ?? 0) + 1);
      expect((await verifyLedger(services.database.pool)).violations).toEqual([]);
    }
    const spare = await standby.life;
    spare.kill();
    await spare.ended;
    await finishAll();
    console.log(
      `Seed ${String(SEED)}: kills at ${[...met].map(([name, times]) => `${name} ${String(times)}`).join(", ")}.`,
    );

    for (const id of ids)
      expect(await read(client, id)).toMatchObject({
        status: "partially_completed",
        account: { amount: "2.5", paid: "2", returned: "0.5", inTransit: "0" },
      });
    await expectRowsPaidOnce(services, { chainId: ONE, rpcUrl }, customer.treasury);
    const { balance } = await client.call(getGlobalAccount, { params: { id: account } });
    const left = String(FUNDED - PAID_ROWS * ids.length);
    expect(balance).toEqual({ available: left, pending: "0", posted: left });
    const { data } = await client.call(getReserves);
    expect(data.find(({ currency }) => currency === "ODD")).toMatchObject({
      inTransit: "0",
      liabilities: left,
    });
    expect((await verifyLedger(services.database.pool)).violations).toEqual([]);
    await expectBudgetsToFitLegs(services.database);
    expect([...met.keys()].sort()).toEqual(Object.keys(PAYOUT_STEPS).sort());
  },
  kills.length * KILL_MS + SETTLE_MS,
);
