/**
 * The web process is killed at the commit of each request that accepts money: nothing is lost,
 * nothing is done twice, and a repetition with the same key finds the result.
 */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { createGlobalAccount, fundGlobalAccount } from "@/lib/contracts/global-accounts";
import { testApi } from "@/lib/dev/testing/api";
import { testDatabase } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import type { Stage } from "@/lib/dev/testing/fault-proxy";
import { fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { startPgProxy, type Statement } from "@/lib/dev/testing/pg-proxy";

const CHAIN_ID = 31337;

interface Death {
  /** The side of the commit on which the process is killed; null while it lives. */
  at: Stage | null;
  table: RegExp;
  isDead: boolean;
}
const death: Death = { at: null, table: /(?!)/, isDead: false };
/** Connections with an open transaction, and whether it has written the table. */
const transactions = new Map<number, { wrote: boolean }>();
/** Connections whose running statement commits a write to the table. */
const committing = new Set<number>();

/**
 * Whether it is the COMMIT of a transaction that wrote the table, or writes the table outside a
 * transaction.
 */
const isCommit = ({ sql, connection }: Statement): boolean => {
  if (/^\s*BEGIN/i.test(sql)) transactions.set(connection, { wrote: false });
  const open = transactions.get(connection);
  if (/^\s*(COMMIT|ROLLBACK)/i.test(sql)) {
    transactions.delete(connection);
    return open?.wrote === true && /COMMIT/i.test(sql);
  }
  const writes = death.table.test(sql);
  if (open === undefined) return writes;
  open.wrote ||= writes;
  return false;
};

const watch = (stage: Stage, statement: Statement): "go" | "cut" => {
  if (death.isDead) return "cut";
  const { connection } = statement;
  if (stage === "before" && isCommit(statement)) committing.add(connection);
  else if (stage === "before") committing.delete(connection);
  if (stage === death.at && committing.has(connection)) death.isDead = true;
  return death.isDead ? "cut" : "go";
};

const { url } = await testDatabase();
const proxy = await startPgProxy(url, { watch });
afterAll(() => proxy.close());
const api = await testApi({ variables: { DATABASE_URL: proxy.url } });
const { prisma } = api.services.database;

let customer: Customer;
let projectId = "";
let payer = "";
let payee = "";

beforeAll(async () => {
  customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN_ID, token: "USDC", amount: "200" });
  const open = async () =>
    (await client.call(createGlobalAccount, { body: { currency: "USDC" } })).id;
  [payer, payee] = [await open(), await open()];
  const funding = { params: { id: payer }, body: { currency: "USDC", amount: "50" } };
  await vi.waitFor(() => client.call(fundGlobalAccount, funding), {
    timeout: 30_000,
    interval: 200,
  });
  ({ projectId } = await prisma.wallet.findFirstOrThrow({
    where: { address: customer.treasury },
  }));
});

beforeEach(() => {
  death.at = null;
  death.isDead = false;
});

const post = async (path: string, key: string, body: object) => {
  const headers = {
    authorization: `Bearer ${customer.session.accessToken}`,
    "content-type": "application/json",
    "idempotency-key": key,
  };
  const response = await api.fetch(path, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

interface Accepting {
  readonly path: string;
  readonly table: RegExp;
  /** The field of the answer with the id. */
  readonly id: string;
  readonly body: () => object;
  readonly count: () => Promise<number>;
}

const at = () => ({
  fromWalletId: customer.treasuryId,
  fromChainId: CHAIN_ID,
  toChainId: CHAIN_ID,
  amount: "2",
});
const row = () => ({ address: testAccount().address, amount: "2", token: "USDC" });

const ACCEPTING: readonly Accepting[] = [
  {
    path: "/transfers",
    table: /INSERT INTO [^(]*\bquote\b/i,
    id: "transferId",
    body: () => ({ ...at(), token: "USDC", toAddress: testAccount().address }),
    count: () => prisma.quote.count({ where: { projectId, kind: "transfer" } }),
  },
  {
    path: "/swap-and-transfer",
    table: /INSERT INTO [^(]*\boperation\b/i,
    id: "operationId",
    body: () => ({
      ...at(),
      fromToken: "USDC",
      toToken: "USDC",
      recipient: testAccount().address,
    }),
    count: () => prisma.operation.count({ where: { projectId, kind: "swap_and_transfer" } }),
  },
  {
    path: "/payouts/bulk/wallets",
    table: /INSERT INTO [^(]*\bpayout\b/i,
    id: "payoutId",
    body: () => ({ chainId: CHAIN_ID, transfers: [row()] }),
    count: () => prisma.payout.count({ where: { projectId, kind: "wallets" } }),
  },
  {
    path: "/payouts/bulk/global-accounts",
    table: /INSERT INTO [^(]*\bpayout\b/i,
    id: "payoutId",
    body: () => ({
      sourceAccountId: payer,
      transfers: [{ recipientAccountId: payee, amount: "2", currency: "USDC" }],
      allowDuplicates: true,
    }),
    count: () => prisma.payout.count({ where: { projectId, kind: "global_accounts" } }),
  },
  {
    path: "/payouts/schedules",
    table: /INSERT INTO [^(]*\bpayout_schedule\b/i,
    id: "scheduleId",
    body: () => ({
      chainId: CHAIN_ID,
      transfers: [row()],
      startsAt: new Date(Date.now() + 86_400_000).toISOString(),
    }),
    count: () => prisma.payoutSchedule.count({ where: { projectId } }),
  },
];

const cases = ACCEPTING.flatMap((accepting) =>
  (["before", "after"] as const).map((stage) => ({ stage, ...accepting })),
);

test.each(cases)(
  "a process that dies $stage the commit of POST $path leaves one of it once the caller repeats the request",
  async ({ stage, path, table, id, body, count }) => {
    const key = crypto.randomUUID();
    const request = body();
    const before = await count();
    Object.assign(death, { at: stage, table });
    const dead = await post(path, key, request);
    expect([dead.status, death.isDead]).toEqual([503, true]);
    Object.assign(death, { at: null, isDead: false });
    expect(await count()).toBe(stage === "before" ? before : before + 1);

    const again = await post(path, key, request);
    expect(String(again.status)).toMatch(/^20[012]$/);
    expect(await count()).toBe(before + 1);
    const third = await post(path, key, request);
    expect([third.status, third.body[id]]).toEqual([again.status, again.body[id]]);
    expect(await count()).toBe(before + 1);
  },
);
