import { expect, inject, test, vi } from "vitest";
import { afterFile } from "@/lib/testing/after-file";
import { testAccount } from "@/lib/testing/factories";
import { fundedCustomer, sendUsdc } from "@/lib/testing/funded-customer";
import { balanceOnChain, waitUntilFinal } from "@/lib/testing/journey";
import { seededRandom, testLedger } from "@/lib/testing/ledger";
import { postLoad } from "@/lib/testing/ledger-load";
import { otherServices } from "@/lib/testing/other-services";
import { ownInstallation } from "@/lib/testing/own-installation";
import { promote, startStandby } from "@/lib/testing/own-standby";
import { startWorker } from "@/lib/workers/runner";

const CONFIRMATIONS = 2;
const WAIT = { timeout: 60_000, interval: 50 };
/** More than an operation is valid. */
const LATER_SECONDS = 1_000;
const OPERATIONS_MIN = 6;
const TRANSFERS_MIN = 100;
const ONE_USDC = 1_000_000n;
const REQUEST = { by: "operator:test", reason: "failover", accept: [] };

const { devnet, postgres, one, registry, api } = await ownInstallation({ confirmations: CONFIRMATIONS });
await devnet.serve(api.services.config);
const usdc = registry.resolveToken(one.chainId, "USDC").address;
const books = testLedger(postgres.url);

type Recipient = `0x${string}`;

test("a standby that is promoted under load has everything that was answered, and signs once the chains were compared", async () => {
  const customer = await fundedCustomer(api);
  const accounts = await Promise.all(Array.from({ length: 8 }, () => books.open("usdc", 100_000n)));
  const dataDir = postgres.elsewhere("standby");
  const standby = await startStandby({ primaryUrl: postgres.url, backup: await postgres.backUp(), dataDir });
  afterFile(async () => {
    await standby.stop();
  });
  const worker = startWorker(api.services, { searchesDeposits: false });

  // Payments and transfers between accounts, until the primary is gone.
  const load = { isOver: false };
  const asked: Recipient[] = [];
  const answered: { readonly operationId: string; readonly recipient: Recipient }[] = [];
  const pay = async (): Promise<void> => {
    while (!load.isOver) {
      const recipient = testAccount().address;
      asked.push(recipient);
      const { operationId } = await sendUsdc(customer, "1", recipient);
      answered.push({ operationId, recipient });
    }
  };
  const keys: string[] = [];
  const post = postLoad(books.ledger, {
    ...{ projectId: books.projectId, name: "failover", accounts, inFlight: 8 },
    random: seededRandom(inject("testSeed")),
    answered: (key) => keys.push(key),
    isOver: () => load.isOver,
  });
  const running = [pay(), pay(), post].map((each) => each.catch(() => undefined));
  await vi.waitFor(() => {
    expect(answered.length).toBeGreaterThanOrEqual(OPERATIONS_MIN);
    expect(keys.length).toBeGreaterThanOrEqual(TRANSFERS_MIN);
  }, WAIT);
  await postgres.observe("INSERT INTO server_life DEFAULT VALUES ON CONFLICT DO NOTHING");
  await postgres.crash();
  load.isOver = true;
  await Promise.all([...running, worker.stop()]);
  await promote(standby);

  const services = otherServices(api.services, standby.url("causeway"), registry);
  const { database, reconciliation, signing } = services;
  const { prisma, pool } = database;
  // Ids of transactions may be given again by the new server, and this tells processes so (lib/modules/payouts/key-filter-repository.ts).
  expect(await prisma.serverLife.count()).toBe(0);
  const ids = answered.map(({ operationId }) => operationId);
  expect(await prisma.operation.count({ where: { id: { in: ids } } })).toBe(ids.length);
  const { rows } = await pool.query<{ key: string }>("SELECT idempotency_key AS key FROM ledger_transaction");
  const stored = new Set(rows.map(({ key }) => key));
  expect(keys.filter((key) => !stored.has(key))).toEqual([]);

  // The new timeline is another database: nothing is signed on it by itself.
  expect(await signing.state()).toMatchObject({ isAllowed: false });
  await expect(sendUsdc(customer, "1", testAccount().address)).rejects.toMatchObject({ code: "signing_off" });
  await Promise.all(
    devnet.chains.map(async ({ client }) => {
      await client.increaseTime({ seconds: LATER_SECONDS });
      await client.mine({ blocks: CONFIRMATIONS + 1 });
    }),
  );
  expect(await reconciliation.reconcile(REQUEST)).toMatchObject({ isAllowed: true, unknown: [], faults: [] });

  const second = startWorker(services, { searchesDeposits: false });
  afterFile(() => second.stop());
  const ends = await Promise.all(ids.map((id) => waitUntilFinal(customer.client, id)));
  // One that was signed and not sent before the failover has expired meanwhile, with its money in the wallet.
  expect(ends.filter(({ status }) => status !== "completed" && status !== "failed")).toEqual([]);
  const paid = await Promise.all(answered.map(({ recipient }) => balanceOnChain(one.rpcUrl, usdc, recipient)));
  expect(paid).toEqual(ends.map(({ status }) => (status === "completed" ? ONE_USDC : 0n)));
  // A request that was not answered was carried out once, or not at all.
  for (const recipient of asked)
    expect(await balanceOnChain(one.rpcUrl, usdc, recipient)).toBeLessThanOrEqual(ONE_USDC);

  const { operationId } = await sendUsdc(customer, "1", testAccount().address);
  expect((await waitUntilFinal(customer.client, operationId)).status).toBe("completed");
  await vi.waitFor(async () => expect(await prisma.job.count()).toBe(0), WAIT);
}, 180_000);
