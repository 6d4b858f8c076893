/**
 * Rows that somebody changes in the database between the acceptance and the signature: nothing is
 * signed, and the money stays.
 */
import type { Address } from "viem";
import { beforeAll, expect, test, vi } from "vitest";
import { createServices } from "@/lib/composition";
import {
  createGlobalAccount,
  fundGlobalAccount,
  getGlobalAccount,
} from "@/lib/contracts/global-accounts";
import { createAccountsPayout, createWalletsPayout } from "@/lib/contracts/payouts";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { isFinal, type Status } from "@/lib/core/status";
import { testApi, type TestApiKey } from "@/lib/dev/testing/api";
import { asOwner } from "@/lib/dev/testing/database";
import { testAccount } from "@/lib/dev/testing/factories";
import { balanceOnChain, fund, newCustomer, type Customer } from "@/lib/dev/testing/journey";
import { startWorker } from "@/lib/workers/runner";

const CHAIN = 31337;
const WAIT = { timeout: 120_000, interval: 200 };
// Nothing is carried on before every row was changed.
const api = await testApi();
const { registry, database, config } = api.services;
const { prisma } = database;
const thief = testAccount().address;

let customer: Customer;
let key: TestApiKey;
let other: Customer;
const accounts = { source: "", payee: "", thief: "" };
beforeAll(async () => {
  customer = await newCustomer(api);
  other = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "1000" });
  key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "100000" });
  for (const name of ["source", "payee", "thief"] as const)
    accounts[name] = (
      await client.call(createGlobalAccount, { body: { currency: "USDC" } })
    ).id;
  const body = { amount: "100", currency: "USDC" };
  await vi.waitFor(
    () => client.call(fundGlobalAccount, { params: { id: accounts.source }, body }),
    WAIT,
  );
}, 120_000);

const send = async (recipient: Address): Promise<string> => {
  const at = { fromWalletId: customer.treasuryId, fromChainId: CHAIN, toChainId: CHAIN };
  const body = { ...at, fromToken: "USDC", toToken: "USDC", amount: "5", recipient };
  return (await key.client.call(swapAndTransfer, { body })).operationId;
};

const payWallets = async (recipient: Address): Promise<string> => {
  const transfers = [{ address: recipient, amount: "5", token: "USDC" }];
  const { payoutId } = await key.client.call(createWalletsPayout, {
    body: { chainId: CHAIN, transfers },
  });
  return payoutId ?? "";
};

const payAccounts = async (mode: "atomic" | "independent"): Promise<string> => {
  const transfers = [{ recipientAccountId: accounts.payee, amount: "5", currency: "USDC" }];
  const body = { sourceAccountId: accounts.source, mode, transfers, allowDuplicates: true };
  return (await key.client.call(createAccountsPayout, { body })).payoutId ?? "";
};

/** Changes stored rows. Fails when the statement finds nothing to change. */
const tamper = async (sql: string, values: readonly unknown[]): Promise<void> => {
  const changed = await asOwner(config.databaseUrl, `${sql} RETURNING 1`, values);
  expect(changed, sql).toHaveLength(1);
};

const OPERATIONS: Readonly<Record<string, readonly [sql: string, value?: () => unknown]>> = {
  "the recipient of the request": [
    "UPDATE operation SET request = jsonb_set(request, '{destination,recipient}', to_jsonb($2::text)) WHERE id = $1",
    () => thief,
  ],
  "the amount of the request": [
    "UPDATE operation SET request = jsonb_set(request, '{sources,0,amountBase}', '\"50000000\"') WHERE id = $1",
  ],
  "the amount of the leg": [
    "UPDATE operation_leg SET amount_base = 50000000 WHERE operation_id = $1",
  ],
  "the route of the leg": [
    "UPDATE operation_leg SET route_leg = jsonb_set(route_leg, '{minOutBase}', '\"1\"') WHERE operation_id = $1",
  ],
  "the wallet of the leg": [
    "UPDATE operation_leg SET wallet_id = $2 WHERE operation_id = $1",
    () => other.treasuryId,
  ],
  "the executing wallet of the leg": [
    "UPDATE operation_leg SET executor_wallet_id = $2 WHERE operation_id = $1",
    () => other.treasuryId,
  ],
  "the chain of the leg": [
    "UPDATE operation_leg SET source_chain_id = 31338 WHERE operation_id = $1",
  ],
  "the kind of the operation": ["UPDATE operation SET kind = 'swap' WHERE id = $1"],
  "its evaluation, for another one's": [
    "UPDATE operation SET evaluation_id = (SELECT max(id) FROM policy_evaluation WHERE subject_id <> $1) WHERE id = $1",
  ],
};

const PAYOUTS: typeof OPERATIONS = {
  "the recipient of a row": [
    "UPDATE wallet_payout_item SET recipient = $2 WHERE payout_id = $1",
    () => thief,
  ],
  "the amount of a row": [
    "UPDATE wallet_payout_item SET amount_base = 50000000 WHERE payout_id = $1",
  ],
  "its evaluation": ["UPDATE payout SET evaluation_id = NULL WHERE id = $1"],
};

const tampered = async (
  changes: typeof OPERATIONS,
  make: () => Promise<string>,
): Promise<readonly (readonly [what: string, id: string])[]> => {
  const made: [string, string][] = [];
  for (const [what, [sql, value]] of Object.entries(changes)) {
    const id = await make();
    await tamper(sql, value === undefined ? [id] : [id, value()]);
    made.push([what, id]);
  }
  return made;
};

const ended = (
  what: string,
  read: () => Promise<{ readonly status: string; readonly failure: unknown }>,
) =>
  vi.waitFor(async () => {
    const record = await read();
    if (!isFinal(record.status as Status)) throw new Error(`${what} is ${record.status}.`);
    return record;
  }, WAIT);
const operation = (id: string, what = id) =>
  ended(what, () => prisma.operation.findUniqueOrThrow({ where: { id } }));
const payout = (id: string, what = id) =>
  ended(what, () => prisma.payout.findUniqueOrThrow({ where: { id } }));

test("whatever is changed between the acceptance and the signature is not signed, posted or paid, and what is not changed is", async () => {
  const usdc = registry.resolveToken(CHAIN, "USDC").address;
  const balance = (owner: Address) =>
    balanceOnChain(registry.get(CHAIN).rpcUrls[0] ?? "", usdc, owner);
  const honest = { operation: testAccount().address, payout: testAccount().address };
  const untouched = [await send(honest.operation), await payWallets(honest.payout)] as const;
  const untouchedPayout = await payAccounts("atomic");
  const operations = await tampered(OPERATIONS, () => send(testAccount().address));
  const payouts = await tampered(PAYOUTS, () => payWallets(testAccount().address));
  const posted: string[] = [];
  for (const mode of ["atomic", "independent"] as const) {
    const id = await payAccounts(mode);
    await tamper(
      "UPDATE payout_rows SET rows = replace(rows::text, $2, $3)::json WHERE payout_id = $1",
      [id, accounts.payee, accounts.thief],
    );
    posted.push(id);
  }
  const before = await balance(customer.treasury);
  // The instance that accepted an operation has it in memory for some seconds. Another instance
  // reads the changed rows from the database.
  const elsewhere = createServices(api.services.config);
  const worker = startWorker(elsewhere);
  try {
    expect(await operation(untouched[0])).toMatchObject({ status: "completed" });
    expect(await payout(untouched[1])).toMatchObject({ status: "completed" });
    expect(await payout(untouchedPayout)).toMatchObject({ status: "completed" });
    // A leg on a chain where the sponsor has reserved nothing cannot be ended; that it is not
    // signed is checked below.
    for (const [what, id] of operations.filter(([each]) => each !== "the chain of the leg")) {
      const { status, failure } = await operation(id, what);
      expect({ what, status, failure }).toMatchObject({
        status: "failed",
        failure: { code: "policy_violation" },
      });
    }
    for (const [what, id] of payouts)
      expect({ what, ...(await payout(id, what)) }).toMatchObject({ status: "failed" });
    for (const id of posted) expect(await payout(id)).toMatchObject({ status: "failed" });
  } finally {
    await worker.stop();
    await elsewhere.close();
  }
  const signed = { userOpHash: { not: null } };
  const changed = operations.map(([, id]) => id);
  expect(
    await prisma.operationLeg.count({ where: { operationId: { in: changed }, ...signed } }),
  ).toBe(0);
  const paid = payouts.map(([, id]) => id);
  expect(
    await prisma.walletPayoutBatch.count({ where: { payoutId: { in: paid }, ...signed } }),
  ).toBe(0);
  expect(await balance(customer.treasury)).toBe(before - 10_000_000n);
  expect(
    await Promise.all([balance(honest.operation), balance(honest.payout), balance(thief)]),
  ).toEqual([5_000_000n, 5_000_000n, 0n]);
  const ledgerBalance = async (id: string) =>
    (await customer.session.client.call(getGlobalAccount, { params: { id } })).balance
      .available;
  expect(await ledgerBalance(accounts.thief)).toBe("0");
  expect(await ledgerBalance(accounts.payee)).toBe("5");
}, 300_000);
