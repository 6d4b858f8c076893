import { expect, inject, test, vi } from "vitest";
import { afterFile } from "@/lib/dev/testing/after-file";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { balanceOnChain, waitUntilFinal } from "@/lib/dev/testing/journey";
import { seededRandom, testLedger } from "@/lib/dev/testing/ledger";
import { postLoad } from "@/lib/dev/testing/ledger-load";
import { otherServices } from "@/lib/dev/testing/other-services";
import { ownInstallation } from "@/lib/dev/testing/own-installation";
import { promote, startStandby } from "@/lib/dev/testing/own-standby";
import { startWorker } from "@/lib/workers/runner";

const CONFIRMATIONS = 2;
const WAIT = { timeout: 60_000, interval: 50 };
/** Longer than an operation is valid. */
const LATER_SECONDS = 1_000;
const OPERATIONS_MIN = 6;
const TRANSFERS_MIN = 100;
const ONE_USDC = 1_000_000n;
const REQUEST = { by: "operator:test", reason: "failover", accept: [] };

const { devnet, postgres, one, registry, api } = await ownInstallation({
  confirmations: CONFIRMATIONS,
});
await devnet.serve(api.services.config);
const usdc = registry.resolveToken(one.chainId, "USDC").address;
const books = testLedger(postgres.url);

type Recipient = `0x${string}`;

test("a standby that is promoted under load has everything that was answered, and signs once the chains were compared", async () => {
  const customer = await fundedCustomer(api);
  const accounts = await Promise.all(
    Array.from({ length: 8 }, () => books.open("usdc", 100_000n)),
  );
  const dataDir = postgres.elsewhere("standby");
  const standby = await startStandby({
    primaryUrl: postgres.ownerUrl,
    backup: await postgres.backUp(),
    dataDir,
  });
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
  await postgres.crash();
  load.isOver = true;
  await Promise.all([...running, worker.stop()]);
  await promote(standby);

  const services = otherServices(api.services, standby.appUrl("causeway"), registry);
  const { database, reconciliation, signing } = services;
  const { prisma, pool } = database;
  const ids = answered.map(({ operationId }) => operationId);
  expect(await prisma.operation.count({ where: { id: { in: ids } } })).toBe(ids.length);
  const { rows } = await pool.query<{ key: string }>(
    "SELECT idempotency_key AS key FROM ledger_transaction",
  );
  const stored = new Set(rows.map(({ key }) => key));
  expect(keys.filter((key) => !stored.has(key))).toEqual([]);

  // The new timeline counts as a different database, so signing is off on it.
  expect(await signing.state()).toMatchObject({ isAllowed: false });
  await expect(sendUsdc(customer, "1", testAccount().address)).rejects.toMatchObject({
    code: "signing_off",
  });
  await Promise.all(
    devnet.chains.map(async ({ client }) => {
      await client.increaseTime({ seconds: LATER_SECONDS });
      await client.mine({ blocks: CONFIRMATIONS + 1 });
    }),
  );
  expect(await reconciliation.reconcile(REQUEST)).toMatchObject({
    isAllowed: true,
    unknown: [],
    faults: [],
  });

  const second = startWorker(services, { searchesDeposits: false });
  afterFile(() => second.stop());
  const ends = await Promise.all(ids.map((id) => waitUntilFinal(customer.client, id)));
  // An operation that was signed but not sent before the failover has expired in the meantime, with
  // its money in the wallet.
  expect(ends.filter(({ status }) => status !== "completed" && status !== "failed")).toEqual(
    [],
  );
  const paid = await Promise.all(
    answered.map(({ recipient }) => balanceOnChain(one.rpcUrl, usdc, recipient)),
  );
  expect(paid).toEqual(ends.map(({ status }) => (status === "completed" ? ONE_USDC : 0n)));
  // An unanswered request was executed once, or not at all.
  for (const recipient of asked)
    expect(await balanceOnChain(one.rpcUrl, usdc, recipient)).toBeLessThanOrEqual(ONE_USDC);

  const { operationId } = await sendUsdc(customer, "1", testAccount().address);
  expect((await waitUntilFinal(customer.client, operationId)).status).toBe("completed");
  await vi.waitFor(async () => expect(await prisma.job.count()).toBe(0), WAIT);
}, 180_000);
