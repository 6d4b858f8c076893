import pg from "pg";
import { expect, test, vi } from "vitest";
import { createWebhookEndpoint } from "@/lib/contracts/webhook-endpoints";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareQuote,
  prepareTransfer,
  waitUntilFinal,
} from "@/lib/dev/testing/journey";
import { newPayer, pay, idOf, read, row } from "@/lib/dev/testing/payout-requests";
import { pgbouncerBinary, startPgbouncer } from "@/lib/dev/testing/pgbouncer";
import { verifyWebhook, webhookReceiver } from "@/lib/dev/testing/webhook-receiver";

const [ONE, TWO] = [31337, 31338];
const binary = pgbouncerBinary();
const NOT_INSTALLED =
  "PgBouncer is not installed, so nothing is tested through it (apt-get install pgbouncer)";

/**
 * Four connections for all clients of the service: session state left by one transaction would
 * affect the next one of another client.
 */
const startThrough = async (pooler: string) => {
  let direct = "";
  const databaseVariables = async (databaseUrl: string) => {
    direct = databaseUrl;
    const { url } = await startPgbouncer(pooler, databaseUrl);
    return { DATABASE_URL: url, DATABASE_DIRECT_URL: databaseUrl };
  };
  const api = await testApi({ worker: true, databaseVariables });
  return { api, direct, receiver: await webhookReceiver() };
};

if (binary === null) console.warn(NOT_INSTALLED);
const started = binary === null ? null : await startThrough(binary);
const through = test.skipIf(started === null);
const running = () => {
  if (started === null) throw new Error(NOT_INSTALLED);
  return started;
};

const onServer = async <Row extends object>(text: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: running().direct });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
};

through(
  "a person signs in, swaps over two chains and transfers, and webhooks tell all of it",
  async () => {
    const { api, receiver } = running();
    const customer = await newCustomer(api);
    const { client } = customer.session;
    const { treasury, treasuryId } = customer;
    const endpoint = await client.call(createWebhookEndpoint, {
      body: { url: receiver.url, events: ["*"] },
    });
    await fund(client, treasury, { chainId: ONE, token: "USDC", amount: "100" });

    const { quoteId } = await prepareQuote(api, customer, {
      from: [{ address: treasury, chainId: ONE, token: "USDC", amount: "20" }],
      toChainId: TWO,
      toToken: "WETH",
      toAddress: testAccount().address,
    });
    // Concurrent requests on different connections: the quote is executed only once.
    const answers = await Promise.all(
      [1, 2, 3, 4].map(() => client.call(executeSwap, { body: { quoteId } })),
    );
    const [swapId = "", ...otherIds] = new Set(answers.map((answer) => answer.operationId));
    expect(otherIds).toEqual([]);
    expect(await waitUntilFinal(client, swapId)).toMatchObject({
      status: "completed",
      subStatus: "full",
    });

    const { transferId } = await prepareTransfer(api, customer, {
      ...{
        fromWalletId: treasuryId,
        toAddress: testAccount().address,
        fromChainId: ONE,
        toChainId: ONE,
      },
      token: "USDC",
      amount: "10",
    });
    const transfer = await client.call(executeSwap, { body: { transferId } });
    expect(await waitUntilFinal(client, transfer.operationId)).toMatchObject({
      status: "completed",
    });

    await vi.waitFor(
      () => {
        const ended = receiver.received.filter(
          ({ body }) => body.type === "operation.completed",
        );
        expect(ended.map(({ body }) => body.objectId).sort()).toEqual(
          [swapId, transfer.operationId].sort(),
        );
        for (const webhook of ended) verifyWebhook(endpoint.secret, webhook);
      },
      { timeout: 30_000, interval: 50 },
    );
  },
  120_000,
);

through(
  "a payout to thirty wallets is paid",
  async () => {
    const { api } = running();
    const payer = await newPayer(api, "500");
    const rows = Array.from({ length: 30 }, () => row(testAccount().address));
    const made = await pay(payer.key, rows);
    await vi.waitFor(
      async () => expect((await read(payer.key, idOf(made))).status).toBe("completed"),
      {
        timeout: 60_000,
        interval: 100,
      },
    );
  },
  120_000,
);

through(
  "the ledger keeps its own role for each transaction, and leaves it to nobody",
  async () => {
    const { ledger, database } = running().api.services;
    const projectId = "prj_pooled";
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        ledger.openAccount({
          projectId,
          currency: "usdc",
          key: `${projectId}:${String(index)}`,
          by: "test",
        }),
      ),
    );
    const roles = await Promise.all(
      Array.from({ length: 12 }, () =>
        database.pool.query<{ role: string }>("SELECT current_user AS role"),
      ),
    );
    expect(new Set(roles.map(({ rows }) => rows[0]?.role))).toEqual(new Set(["causeway_app"]));
  },
);

through(
  "the server has no named statement, no lock and no LISTEN on a connection of the pooler",
  async () => {
    const listening = await onServer<{ query: string; application_name: string }>(
      "SELECT query, application_name FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
    );
    expect(listening.length).toBeLessThanOrEqual(1);
    expect(
      await onServer(
        "SELECT 1 FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND a.state = 'idle' AND a.datname = current_database()",
      ),
    ).toEqual([]);
    const named = await Promise.all(
      Array.from({ length: 12 }, () =>
        running().api.services.database.pool.query<object>(
          "SELECT name FROM pg_prepared_statements WHERE name <> ''",
        ),
      ),
    );
    expect(named.flatMap(({ rows }) => rows)).toEqual([]);
  },
);
