import { bindDeps } from "@/lib/core/bind-deps";
import type { Clock } from "@/lib/core/clock";
import type { Database } from "@/lib/platform/db/client";
import { sqlOf, type SqlReader } from "@/lib/platform/db/sql";
import { toDomainError, type LedgerService, type Outcome } from "@/lib/books/ledger/service";
import type { PolicyEngine } from "@/lib/trust/policies/service";
import { accountsDigest } from "../intent";
import type { AccountsPayout } from "../payout";
import type { PayoutsRepository } from "../repository";
import { finishAtomic, readItems, settleItems } from "./row-repository";
import { encodeRow, type ItemOutcome, type PayoutItemRow } from "./rows";

export interface AccountPayoutRunnerDeps {
  readonly database: Pick<Database, "transaction">;
  readonly payouts: Pick<PayoutsRepository, "find" | "finish">;
  /** Runs read-only statements outside of any transaction. */
  readonly reader: SqlReader;
  readonly ledger: LedgerService;
  /**
   * Whether the policies allowed a payout with exactly this digest. Otherwise nothing is posted.
   */
  readonly isAllowed: PolicyEngine["isAllowed"];
  readonly clock: Clock;
}

const ROWS_AT_ONCE = 512;
const ROWS_MAX = 10_000;
const SCOPE = "payout";

/**
 * The failure of a payout that was changed after the policies had evaluated it, or stored without
 * an evaluation. Such a payout is never posted.
 */
const NOT_EVALUATED = {
  code: "policy_violation",
  message:
    "The policies have not allowed this payout as it is stored, so nothing more of it was paid. The money is in the source account. Create the payout again; tell the operator of the service when it happens again.",
  retryable: true,
};

const failureOf = (outcome: Outcome): ItemOutcome["failure"] => {
  if (outcome.posted) return null;
  const { code, message } = toDomainError(outcome.rejection);
  return {
    code,
    message,
    retryable: code === "insufficient_balance" || code === "invalid_state",
  };
};

const rowsOf = async (
  deps: AccountPayoutRunnerDeps,
  payout: AccountsPayout,
): Promise<PayoutItemRow[]> => {
  const rows = await readItems(deps.reader, {
    projectId: payout.projectId,
    payoutId: payout.id,
    after: -1,
    limit: ROWS_MAX,
  });
  if (rows.length === payout.itemsTotal) return rows;
  throw new Error(
    `${payout.id} has ${String(rows.length)} of its ${String(payout.itemsTotal)} rows. Nothing is paid.`,
  );
};

/**
 * Whether the policies allowed the payout with exactly these rows, which must be all rows of the
 * payout.
 */
const isEvaluated = (
  { isAllowed }: AccountPayoutRunnerDeps,
  payout: AccountsPayout,
  rows: readonly PayoutItemRow[],
): Promise<boolean> => {
  const { projectId, id, evaluationId } = payout;
  return isAllowed(projectId, evaluationId, {
    id,
    digest: accountsDigest(payout, rows.map(encodeRow)),
  });
};

const atomic = async (
  deps: AccountPayoutRunnerDeps,
  payout: AccountsPayout,
  rows: readonly PayoutItemRow[],
): Promise<void> => {
  if (!(await isEvaluated(deps, payout, rows))) {
    const end = {
      projectId: payout.projectId,
      payoutId: payout.id,
      completed: false,
      failure: NOT_EVALUATED,
      now: deps.clock.now(),
    };
    return deps.database.transaction((tx) => finishAtomic(sqlOf(tx), end));
  }
  await deps.ledger.together({
    prepare: () =>
      Promise.resolve([
        {
          kind: "batch",
          projectId: payout.projectId,
          rows: rows.map((row) => ({
            from: payout.sourceAccountId,
            to: row.recipientAccountId,
            amountBase: row.amountBase,
            currency: payout.currency,
          })),
          key: payout.id,
          scope: SCOPE,
          by: payout.createdBy,
          data: { payoutId: payout.id, reference: payout.reference },
        },
      ]),
    also: async (sql, [outcome]) => {
      if (outcome === undefined) throw new Error("The ledger did not answer.");
      const failure = failureOf(outcome);
      const { projectId, id: payoutId } = payout;
      await finishAtomic(sql, {
        projectId,
        payoutId,
        completed: outcome.posted,
        failure,
        now: deps.clock.now(),
      });
    },
  });
};

const someRows = async (
  deps: AccountPayoutRunnerDeps,
  payout: AccountsPayout,
  rows: readonly PayoutItemRow[],
): Promise<void> => {
  await deps.ledger.together({
    prepare: () =>
      Promise.resolve(
        rows.map((row) => ({
          kind: "transfer" as const,
          projectId: payout.projectId,
          from: payout.sourceAccountId,
          to: row.recipientAccountId,
          amountBase: row.amountBase,
          currency: payout.currency,
          key: `${payout.id}:${String(row.index)}`,
          scope: SCOPE,
          by: payout.createdBy,
          data: {
            payoutId: payout.id,
            index: row.index,
            reference: row.reference ?? payout.reference,
          },
        })),
      ),
    also: (sql, outcomes) => {
      const items = rows.map(({ index, amountBase }, position): ItemOutcome => {
        const outcome = outcomes[position];
        if (outcome === undefined) throw new Error("The ledger did not answer for every row.");
        return outcome.posted
          ? {
              index,
              amountBase,
              status: "completed",
              transactionId: outcome.transactionId,
              failure: null,
            }
          : {
              index,
              amountBase,
              status: "failed",
              transactionId: null,
              failure: failureOf(outcome),
            };
      });
      return settleItems(sql, {
        projectId: payout.projectId,
        payoutId: payout.id,
        items,
        now: deps.clock.now(),
      });
    },
  });
};

const refuseRows = (
  { database, clock }: AccountPayoutRunnerDeps,
  payout: AccountsPayout,
  rows: readonly PayoutItemRow[],
): Promise<void> => {
  const refused = { status: "failed" as const, transactionId: null, failure: NOT_EVALUATED };
  const items = rows.map(({ index, amountBase }): ItemOutcome => ({
    index,
    amountBase,
    ...refused,
  }));
  return database.transaction((tx) =>
    settleItems(sqlOf(tx), {
      projectId: payout.projectId,
      payoutId: payout.id,
      items,
      now: clock.now(),
    }),
  );
};

const independent = async (
  deps: AccountPayoutRunnerDeps,
  payout: AccountsPayout,
  all: readonly PayoutItemRow[],
): Promise<void> => {
  const settle = (await isEvaluated(deps, payout, all)) ? someRows : refuseRows;
  const open = all.filter(({ status }) => status === null);
  for (let from = 0; from < open.length; from += ROWS_AT_ONCE)
    await settle(deps, payout, open.slice(from, from + ROWS_AT_ONCE));
  const settled = await deps.payouts.find(payout.id);
  if (settled === null) return;
  if (settled.itemsCompleted + settled.itemsFailed !== settled.itemsTotal)
    throw new Error(
      `${payout.id} has rows that are neither paid nor refused, and are not to be found.`,
    );
  await deps.payouts.finish(settled, deps.clock.now());
};

const run = async (deps: AccountPayoutRunnerDeps, payout: AccountsPayout): Promise<void> => {
  // The rows are read only once, so that exactly the checked rows are posted.
  const rows = await rowsOf(deps, payout);
  const pay = payout.mode === "atomic" ? atomic : independent;
  await pay(deps, payout, rows);
};

/**
 * Creates the runner that pays accepted payouts between accounts. Any instance can repeat a run
 * after a crash, because every row has a separate key in the ledger, and the row's state changes in
 * the transaction that posts it.
 */
export const createAccountPayoutRunner = (deps: AccountPayoutRunnerDeps) => {
  return { run: bindDeps(deps, run) };
};

export type AccountPayoutRunner = ReturnType<typeof createAccountPayoutRunner>;
