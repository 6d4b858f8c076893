/** This version goes on while the next one has migrated the database already, as in an upgrade without a stop. */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { migrateDeploy } from "@/lib/db/migrate";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { createAccountsPayout } from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { createWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { afterFile } from "@/lib/testing/after-file";
import { testApi } from "@/lib/testing/api";
import { testAccount } from "@/lib/testing/factories";
import { fund, newCustomer, prepareQuote, prepareTransfer, waitUntilFinal } from "@/lib/testing/journey";
import { contractionsOf } from "@/lib/testing/migration-rules";
import { newPayer, pay, idOf, read, row } from "@/lib/testing/payout-requests";
import { webhookReceiver } from "@/lib/testing/webhook-receiver";

const [ONE, TWO] = [31337, 31338];
const MIGRATIONS = "prisma/migrations";
const NEXT = "29991231235959_next_version";
const WAIT = { timeout: 60_000, interval: 100 };
const TABLES_MIN = 60;

const api = await testApi({ worker: true });
const { pool } = api.services.database;
const receiver = await webhookReceiver();

/** Signs in, swaps over two chains, transfers, pays wallets and accounts, and gets a webhook of it. */
const mainJourney = async (): Promise<void> => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await client.call(createWebhookEndpoint, { body: { url: receiver.url, events: ["operation.*"] } });
  await fund(client, customer.treasury, { chainId: ONE, token: "USDC", amount: "100" });
  const { quoteId } = await prepareQuote(api, customer, {
    from: [{ address: customer.treasury, chainId: ONE, token: "USDC", amount: "20" }],
    toChainId: TWO,
    toToken: "WETH",
    toAddress: testAccount().address,
  });
  const swap = await client.call(executeSwap, { body: { quoteId } });
  const { transferId } = await prepareTransfer(api, customer, {
    ...{ fromWalletId: customer.treasuryId, toAddress: testAccount().address, fromChainId: ONE, toChainId: ONE },
    ...{ token: "USDC", amount: "10" },
  });
  const transfer = await client.call(executeSwap, { body: { transferId } });
  for (const { operationId } of [swap, transfer])
    expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed", subStatus: "full" });

  const open = () => client.call(createGlobalAccount, { body: { currency: "USDC" } });
  const [payer, payee] = [await open(), await open()];
  await vi.waitFor(
    () => client.call(fundGlobalAccount, { params: { id: payer.id }, body: { amount: "5", currency: "USDC" } }),
    WAIT,
  );
  const transfers = [{ recipientAccountId: payee.id, amount: "2", currency: "USDC" }];
  await client.call(createAccountsPayout, { body: { sourceAccountId: payer.id, transfers } });

  const many = await newPayer(api, "100");
  const made = await pay(
    many.key,
    Array.from({ length: 5 }, () => row(testAccount().address)),
  );
  await vi.waitFor(async () => expect((await read(many.key, idOf(made))).status).toBe("completed"), WAIT);
  const told = () => receiver.received.filter(({ body }) => body.type === "operation.completed");
  await vi.waitFor(
    () => expect(told().map(({ body }) => body.objectId)).toEqual(expect.arrayContaining([swap.operationId])),
    WAIT,
  );
};

/**
 * Migrations that do to every table whatever a version may do: a column without and one with a default, an index, and a new table. Each
 * locks one table alone, as migrations under load should.
 */
const nextMigrations = async (): Promise<string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1",
  );
  expect(rows.length).toBeGreaterThan(TABLES_MIN);
  return [
    'CREATE TABLE "next_table" (id text PRIMARY KEY, project_id text REFERENCES project (id));',
    ...rows.map(
      ({ name }) =>
        `ALTER TABLE "${name}" ADD COLUMN next_text text, ADD COLUMN next_flag boolean NOT NULL DEFAULT false;
         CREATE INDEX "${name}_next" ON "${name}" (next_text) WHERE next_flag;`,
    ),
  ];
};

test("money is moved as before on the database of the next version, also over connections from before its migration", async () => {
  await mainJourney();
  const migrations = await nextMigrations();
  expect(migrations.flatMap(contractionsOf)).toEqual([]);
  const folder = mkdtempSync(join(tmpdir(), "causeway-next-"));
  afterFile(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(MIGRATIONS, folder, { recursive: true });
  for (const [index, sql] of migrations.entries()) {
    const at = join(folder, `${NEXT}_${String(index)}`);
    mkdirSync(at);
    writeFileSync(join(at, "migration.sql"), sql);
  }
  const { databaseUrl } = api.services.config;
  expect(await migrateDeploy(databaseUrl, folder)).toHaveLength(migrations.length);

  // Statements that the connections have prepared were for fewer columns.
  await mainJourney();
  // A process of this version that starts now finds a migration that it does not know.
  expect(await migrateDeploy(databaseUrl, MIGRATIONS)).toEqual([]);
}, 300_000);
