import pg from "pg";
import { expect, inject, test } from "vitest";
import { afterFile } from "@/lib/dev/testing/after-file";
import { remoteApi, testApi } from "@/lib/dev/testing/api";
import { processVariables, startApiProcess } from "@/lib/dev/testing/api-process";
import { expectNothingTwiceOrForgotten } from "@/lib/dev/testing/audit";
import { testDevnet } from "@/lib/dev/testing/devnet";
import { testAccount } from "@/lib/dev/testing/factories";
import { fundedCustomer, sendUsdc } from "@/lib/dev/testing/funded-customer";
import { balanceOnChain, waitUntilFinal } from "@/lib/dev/testing/journey";
import { ownPostgres } from "@/lib/dev/testing/own-postgres";
import { pgbouncerBinary, startPgbouncer } from "@/lib/dev/testing/pgbouncer";
import { workerProcesses } from "@/lib/dev/testing/worker-process";

const IS_LONG = inject("isLong");
/**
 * Processes of each role. Twenty in all start in about a minute on two cores, so `npm test` takes
 * six.
 */
const EACH = IS_LONG ? 10 : 3;
/** PostgreSQL's default, and proportionally fewer in the short form. */
const CONNECTIONS_MAX = IS_LONG ? 100 : 40;
/**
 * The deployment's connection limit (ops/pgbouncer/pgbouncer.ini). Each process has one more direct
 * connection for LISTEN.
 */
const POOLED = IS_LONG ? 60 : 20;
const CUSTOMERS = 4;
const CHAIN_ID = 31337;
const ONE_USDC = 1_000_000n;
const SAMPLE_MS = 200;

const binary = pgbouncerBinary();
if (binary === null)
  console.warn(
    "PgBouncer is not installed, so many processes are not tested (apt-get install pgbouncer)",
  );

/**
 * Counts the server's connections every 200 ms, using one of the three that are reserved for
 * administrators.
 */
const watchConnections = async (url: string): Promise<{ most: () => number }> => {
  const client = new pg.Client({ connectionString: url, application_name: "observer" });
  client.on("error", () => undefined);
  await client.connect();
  let most = 0;
  const count = async (): Promise<void> => {
    const { rows } = await client.query<{ count: number }>(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE backend_type = 'client backend'",
    );
    most = Math.max(most, rows[0]?.count ?? 0);
  };
  const timer = setInterval(() => void count().catch(() => undefined), SAMPLE_MS);
  afterFile(async () => {
    clearInterval(timer);
    await client.end();
  });
  return { most: () => most };
};

test.skipIf(binary === null)(
  `${String(EACH)} web and ${String(EACH)} worker processes share a PostgreSQL of ${String(CONNECTIONS_MAX)} connections, and pay everything once`,
  { timeout: 600_000 },
  async () => {
    const postgres = await ownPostgres({ connectionsMax: CONNECTIONS_MAX });
    const connections = await watchConnections(postgres.ownerUrl);
    const { url } = await startPgbouncer(binary ?? "", postgres.url, POOLED);
    const { start } = workerProcesses();
    const devnet = await testDevnet();
    const database = { DATABASE_URL: url, DATABASE_DIRECT_URL: postgres.url };
    const api = await testApi({ variables: database });
    const { registry } = api.services;
    const variables = { ...processVariables(api), ...database };
    const urls: string[] = [];
    for (let started = 0; started < EACH; started += 1)
      urls.push((await startApiProcess(variables)).url);
    for (let started = 0; started < EACH; started += 1) await (await start(variables)).begin();

    // Each customer calls every web process.
    const customers = await Promise.all(
      Array.from({ length: CUSTOMERS }, () => fundedCustomer(api)),
    );
    const sent = await Promise.all(
      customers.map(async (customer) => {
        const { secret } = await api.createKey(customer.session, {
          otp: "exempt",
          dailyCapUsd: "1000",
        });
        return Promise.all(
          urls.map(async (baseUrl) => {
            const client = remoteApi(api, baseUrl).client({ "x-api-key": secret });
            const recipient = testAccount().address;
            const { operationId } = await sendUsdc({ ...customer, client }, "1", recipient);
            return { client, recipient, operationId };
          }),
        );
      }),
    );
    const usdc = registry.resolveToken(CHAIN_ID, "USDC").address;
    for (const { client, recipient, operationId } of sent.flat()) {
      expect(await waitUntilFinal(client, operationId)).toMatchObject({ status: "completed" });
      expect(
        await balanceOnChain(devnet.rpcUrls[String(CHAIN_ID)] ?? "", usdc, recipient),
      ).toBe(ONE_USDC);
    }
    await expectNothingTwiceOrForgotten(
      api.services,
      devnet.rpcUrls,
      customers.map(({ treasury }) => treasury),
    );
    console.log(
      `${String(2 * EACH)} processes had at most ${String(connections.most())} connections of ${String(CONNECTIONS_MAX)}.`,
    );
    expect(connections.most()).toBeGreaterThan(2 * EACH);
    expect(connections.most()).toBeLessThan(CONNECTIONS_MAX);
  },
);
