import { beforeAll, expect, test, vi } from "vitest";
import { executeSwap } from "@/lib/contracts/swap";
import { testApi } from "@/lib/dev/testing/api";
import { asOwner } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import {
  fund,
  newCustomer,
  prepareQuote,
  waitUntilFinal,
  type Customer,
} from "@/lib/dev/testing/journey";

const CHAIN_ID = 31337;
const BACK_MS = 60_000;

const api = await testApi({ worker: true });
let customer: Customer;
beforeAll(async () => {
  customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN_ID,
    token: "USDC",
    amount: "100",
  });
  // The treasury's money counts once its block is final.
  const other = await openAccount();
  await vi.waitFor(async () => expect((await send(fundBy(other))).status).toBe(201), {
    timeout: BACK_MS,
    interval: 200,
  });
});

const query = <Row extends object>(
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => asOwner<Row>(api.services.config.databaseUrl, sql, values);

interface Asked {
  readonly path: string;
  readonly body: object;
  readonly key: string;
}

const send = async ({ path, body, key }: Asked) => {
  const response = await api.fetch(path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${customer.session.accessToken}`,
      "content-type": "application/json",
      "idempotency-key": key,
    },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    retryAfter: response.headers.get("retry-after"),
    body: await response.text(),
  };
};

const goodQuote = () => ({
  from: [{ address: customer.treasury, chainId: CHAIN_ID, token: "USDC", amount: "1" }],
  toChainId: CHAIN_ID,
  toToken: "USDC",
  toAddress: testAccount().address,
});

const fundBy = (accountId: string): Asked => ({
  path: `/global-accounts/${accountId}/fund`,
  body: { amount: "0.01", currency: "USDC" },
  key: crypto.randomUUID(),
});

const openAccount = async (): Promise<string> => {
  const { body } = await send({
    path: "/global-accounts",
    body: { currency: "USDC" },
    key: crypto.randomUUID(),
  });
  return (JSON.parse(body) as { id: string }).id;
};

/** Makes every insert into a table fail with PostgreSQL's error for a full disk. */
const fillDisk = async (table: string): Promise<void> => {
  // A sequence counts the refused inserts, because a rollback does not reset it.
  await query("CREATE SEQUENCE IF NOT EXISTS refusal");
  await query("GRANT USAGE ON SEQUENCE refusal TO PUBLIC");
  await query(`CREATE OR REPLACE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM nextval('refusal'); RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`);
  await query(
    `CREATE TRIGGER full_disk BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION no_space()`,
  );
};
const refusals = async (): Promise<number> => {
  const [row] = await query<{ count: string }>(
    "SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS count FROM refusal",
  );
  return Number(row?.count);
};
const freeDisk = (table: string): Promise<object[]> =>
  query(`DROP TRIGGER full_disk ON ${table}`);

test.each([
  [
    "contact",
    () => ({ path: "/contacts", body: { name: "c", address: testAccount().address } }),
  ],
  ["ledger_account", () => ({ path: "/global-accounts", body: { currency: "USDC" } })],
  ["quote", () => ({ path: "/swap/quote", body: goodQuote() })],
  [
    "idempotency_key",
    () => ({ path: "/contacts", body: { name: "c", address: testAccount().address } }),
  ],
])(
  "a request that finds the disk of %s full is 503, and the same one is done when there is space",
  async (table, next) => {
    const asked: Asked = { key: crypto.randomUUID(), ...next() };
    await fillDisk(table);
    const refused = await send(asked);
    await freeDisk(table);
    expect(refused.status, refused.body).toBe(503);
    expect(Number(refused.retryAfter)).toBeGreaterThan(0);
    expect((await send(asked)).status).toBeLessThan(300);
  },
);

test("the ledger that finds the disk full answers 503 and posts nothing, and posts once when there is space", async () => {
  const accountId = await openAccount();
  const asked = fundBy(accountId);
  await fillDisk("ledger_entry");
  const refused = await send(asked);
  await freeDisk("ledger_entry");
  expect(refused.status, refused.body).toBe(503);
  expect((await send(asked)).status).toBe(201);
  expect((await send(asked)).status).toBe(201);
  expect(
    await query("SELECT 1 FROM ledger_entry WHERE account_id = $1", [
      accountId.replace(/^ga_/, ""),
    ]),
  ).toHaveLength(1);
});

test("a worker that finds the disk full goes on when there is space", async () => {
  const recipient = testAccount().address;
  const { quoteId } = await prepareQuote(api, customer, {
    ...goodQuote(),
    toAddress: recipient,
  });
  await fillDisk("chain_transaction");
  const before = await refusals();
  const { operationId } = await customer.session.client.call(executeSwap, {
    body: { quoteId },
  });
  await vi.waitFor(async () => expect(await refusals()).toBeGreaterThan(before + 1), {
    timeout: BACK_MS,
    interval: 50,
  });
  await freeDisk("chain_transaction");
  expect((await waitUntilFinal(customer.session.client, operationId, BACK_MS)).status).toBe(
    "completed",
  );
}, 180_000);
