/**
 * Statements on a cluster that read rows from a parameter or change two tables (steps and payouts):
 * one node executes each.
 */
import { expect, test, vi } from "vitest";
import { getPayout } from "@/lib/contracts/payouts";
import { executeSwap } from "@/lib/contracts/swap";
import { isFinal } from "@/lib/core/status";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer, prepareTransfer, waitUntilFinal } from "@/lib/dev/testing/journey";
import { idOf, pay, refusal, row, someone } from "@/lib/dev/testing/payout-requests";
import {
  recordStatements,
  type RecordedStatement,
} from "@/lib/dev/testing/recorded-statements";
import { tasksOf, touches } from "@/lib/dev/testing/shard-tasks";
import { DISTRIBUTED_TABLES } from "./distribute";

const CHAIN = 31337;
const WAIT = { timeout: 60_000, interval: 200 };

const api = await testApi({ worker: true });
const { pool, prisma } = api.services.database;
const statements = recordStatements();

const isHot = touches(DISTRIBUTED_TABLES);

const recorded = (pattern: RegExp): RecordedStatement[] =>
  [...statements.values()].filter((each) => isHot(each) && pattern.test(each.text));

const expectOneShard = async (found: readonly RecordedStatement[]): Promise<void> => {
  for (const each of found)
    expect([each.text, await tasksOf(pool, each)]).toEqual([each.text, [1]]);
};

test("each statement of an operation's steps with rows of a JSON parameter goes to one shard", async () => {
  const customer = await newCustomer(api);
  const { client } = customer.session;
  await fund(client, customer.treasury, { chainId: CHAIN, token: "USDC", amount: "20" });
  const { transferId } = await prepareTransfer(api, customer, {
    ...{ fromWalletId: customer.treasuryId, fromChainId: CHAIN, toChainId: CHAIN },
    ...{ token: "USDC", amount: "10", toAddress: testAccount().address },
  });
  const { operationId } = await client.call(executeSwap, { body: { transferId } });
  expect((await waitUntilFinal(client, operationId)).status).toBe("completed");

  // The rows of an acceptance are no step: Citus copies them to the shard of their project.
  const steps = recorded(/^(?!INSERT INTO operation(?:_leg)? ).*jsonb_to_recordset\(/);
  for (const table of ["operation", "operation_leg"])
    expect(steps.some(({ text }) => new RegExp(`UPDATE ${table}\\b`).test(text))).toBe(true);
  await expectOneShard(steps);
}, 180_000);

test("the keys of a payout are looked up on one shard, and find a repeated payment before and after it is paid", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "20",
  });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000" });
  const rows = [row(someone()), row(someone(), "2")];
  const payoutId = idOf(await pay(key.client, rows));
  const repeated = async () => (await refusal(pay(key.client, rows.slice(1)))).code;
  expect(await repeated()).toBe("duplicate_payout");
  expect(await prisma.payoutRowKey.count({ where: { payoutId } })).toBe(rows.length);
  await vi.waitFor(async () => {
    expect(
      isFinal(
        (await customer.session.client.call(getPayout, { params: { id: payoutId } })).status,
      ),
    ).toBe(true);
  }, WAIT);
  expect(await repeated()).toBe("duplicate_payout");

  const ofKeys = recorded(/\bFROM payout_row_key\b/);
  expect(ofKeys).toHaveLength(1);
  // EXPLAIN needs values as text, but the keys were sent in binary form.
  const explained = ofKeys.map(({ text, values }) => ({
    text,
    values: values.map((value) => (Buffer.isBuffer(value) ? "{}" : value)),
  }));
  await expectOneShard(explained);
}, 180_000);
