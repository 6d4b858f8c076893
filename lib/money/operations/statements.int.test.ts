import { expect, test, vi } from "vitest";
import type { ApiClient } from "@/lib/api-client/client";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { testApi } from "@/lib/dev/testing/api";
import { testAccount } from "@/lib/dev/testing/factories";
import { fund, newCustomer } from "@/lib/dev/testing/journey";
import { countStatements, reportOf } from "@/lib/dev/testing/statement-count";

const CHAIN = 31337;
const CALLERS = 50;
const TRANSFERS = 150;
/** The maximum number of SQL statements with which one transfer is quoted and accepted. */
const ACCEPTANCE_MAX = 22;
/**
 * The maximum number of SQL statements for one transaction of a step. How many transfers share a
 * transaction depends on how busy the machine is, so their total is no measure.
 */
const STEP_MAX = 12;
/** Timers run these statements, independent of the number of transfers. */
const TIMED = [
  /^WITH held AS MATERIALIZED/,
  /FROM "public"\."chain_transaction" WHERE .*"status" IN/,
  /FROM chain_transaction t WHERE t\.chain_id = \$1::int AND t\.status = ANY/,
  /"public"\."payout_schedule/,
  /FROM payout WHERE status = 'pending' AND expires_at/,
  /"expires_at" <=/,
  /^SELECT .*"public"\."job"/,
  /\bchain_head\b/,
  /\bperiodic_task\b/,
  // Checks whether the database is the one for which signing is allowed.
  /pg_control_system\(\)/,
  /\bFROM notification_due\b/,
  /\bFROM notification_box\b/,
  /\bFROM screening_list\b/,
  // Metric samples, once a second; the log of API-key requests, twice a second.
  /extract\(epoch FROM updated_at/,
  /INSERT INTO api_request\b/,
  // Polls and heartbeats of the worker. It claims none of these jobs, because the accepting process
  // hands them to it.
  /^UPDATE job SET locked_by = \$1/,
  /^WITH held AS MATERIALIZED \( SELECT id FROM job/,
  // The audit log is linked once a second, for any number of rows.
  /\baudit_(?:head|link|unlinked)\b.*(?:FOR UPDATE|RETURNING event|jsonb_to_recordset)/i,
  /causeway\.audit-link/,
];

const api = await testApi({ worker: true });
const { database } = api.services;
const statements = countStatements(database.pool, { withPlaces: true });

const transferFrom = (client: ApiClient, treasuryId: string) => (): Promise<unknown> =>
  client.call(swapAndTransfer, {
    body: {
      fromWalletId: treasuryId,
      fromChainId: CHAIN,
      toChainId: CHAIN,
      fromToken: "USDC",
      toToken: "USDC",
      amount: "1",
      recipient: testAccount().address,
    },
  });

const repeated = async (count: number, one: () => Promise<unknown>): Promise<void> => {
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < count) {
      begun += 1;
      await one();
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
};

const completed = (count: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const [open, done] = [
        await database.prisma.job.count({ where: { queue: "operation" } }),
        await database.prisma.operation.count({ where: { status: "completed" } }),
      ];
      expect({ open, done }).toEqual({ open: 0, done: count });
    },
    { timeout: 300_000, interval: 500 },
  );

const isCounted = (text: string): boolean =>
  !TIMED.some((timed) => timed.test(text)) && !text.includes("_count$_all");

const perTransfer = (pattern: RegExp): number => {
  const counted = [...statements.byText].filter(
    ([text]) => isCounted(text) && pattern.test(text),
  );
  return counted.reduce((sum, [, count]) => sum + count, 0) / TRANSFERS;
};

/** The statements of requests, or those outside of requests. */
const perTransferIn = (isRequest: boolean): number => {
  const counted = statements
    .uses()
    .filter(({ text, phase }) => isCounted(text) && (phase === "request") === isRequest);
  return counted.reduce((sum, { count }) => sum + count, 0) / TRANSFERS;
};

test("fifty callers of one treasury cost few statements a transfer, and an operation is read at most once", async () => {
  const customer = await newCustomer(api);
  await fund(customer.session.client, customer.treasury, {
    chainId: CHAIN,
    token: "USDC",
    amount: "5000",
  });
  const key = await api.createKey(customer.session, { otp: "exempt", dailyCapUsd: "1000000" });
  const transfer = transferFrom(key.client, customer.treasuryId);
  // The first transfer deploys the account.
  await transfer();
  await completed(1);
  statements.reset();
  await repeated(TRANSFERS, transfer);
  await completed(1 + TRANSFERS);
  // When a limit is exceeded, the test lists the statements by the code that sent them.
  const report = reportOf(statements.uses(), TRANSFERS);
  expect(perTransferIn(true), report).toBeLessThan(ACCEPTANCE_MAX);
  const steps = perTransfer(/UPDATE operation_leg l SET state/);
  expect(perTransferIn(false) / steps, report).toBeLessThan(STEP_MAX);
  // The instance that accepted an operation has it cached. A worker reads it only when another
  // instance has written to it.
  expect(
    perTransfer(/^SELECT .* FROM operation o LEFT JOIN operation_leg/),
  ).toBeLessThanOrEqual(1);
  expect(perTransfer(/^SELECT .*"public"\."operation_leg"/)).toBe(0);
  // Each of the three steps locks and reads with one statement, and writes the leg with another.
  // Steps at the same time share statements.
  expect(
    perTransfer(/FOR NO KEY UPDATE OF o \).* FOR NO KEY UPDATE OF l$/),
  ).toBeLessThanOrEqual(3);
  expect(steps).toBeLessThanOrEqual(3);
  // The job goes to the worker of the same process, and is removed with the last step.
  expect(perTransfer(/SELECT j\.id FROM job j JOIN unnest/)).toBeLessThan(0.5);
  // The acceptance waits for seven answers of PostgreSQL: BEGIN; the claim; the cap of the key; the
  // balance with its sums; the rows; the accounts and the sponsor's budget; COMMIT.
  expect(perTransfer(/INSERT INTO (?:quote|operation) \(/)).toBeLessThanOrEqual(2);
}, 600_000);
