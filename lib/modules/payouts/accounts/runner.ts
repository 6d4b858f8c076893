import { bindDeps } from "@/lib/core/bind-deps";
import type { Clock } from "@/lib/core/clock";
import { toDomainError, type LedgerService, type Outcome } from "@/lib/modules/ledger/service";
import type { AccountsPayout } from "../payout";
import type { PayoutsRepository } from "../repository";
import { finishAtomic, type AccountPayoutsRepository } from "./repository";
import { settleItems, type ItemOutcome, type PayoutItemRow } from "./rows";

export interface AccountPayoutRunnerDeps {
  readonly payouts: Pick<PayoutsRepository, "find" | "finish">;
  readonly repository: Pick<AccountPayoutsRepository, "items">;
  readonly ledger: LedgerService;
  readonly clock: Clock;
}

const ROWS_AT_ONCE = 512;
const ROWS_MAX = 10_000;
const SCOPE = "payout";

const failureOf = (outcome: Outcome): ItemOutcome["failure"] => {
  if (outcome.posted) return null;
  const { code, message } = toDomainError(outcome.rejection);
  return { code, message, retryable: code === "insufficient_balance" || code === "invalid_state" };
};

const rowsOf = async (deps: AccountPayoutRunnerDeps, payout: AccountsPayout): Promise<PayoutItemRow[]> => {
  const rows = await deps.repository.items({ payoutId: payout.id, after: -1, limit: ROWS_MAX });
  if (rows.length === payout.itemsTotal) return rows;
  throw new Error(`${payout.id} has ${String(rows.length)} of its ${String(payout.itemsTotal)} rows. Nothing is paid.`);
};

const atomic = async (deps: AccountPayoutRunnerDeps, payout: AccountsPayout): Promise<void> => {
  const rows = await rowsOf(deps, payout);
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
      await finishAtomic(sql, { payoutId: payout.id, completed: outcome.posted, failure, now: deps.clock.now() });
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
          data: { payoutId: payout.id, index: row.index, reference: row.reference ?? payout.reference },
        })),
      ),
    also: (sql, outcomes) => {
      const items = rows.map(({ index, amountBase }, position): ItemOutcome => {
        const outcome = outcomes[position];
        if (outcome === undefined) throw new Error("The ledger did not answer for every row.");
        return outcome.posted
          ? { index, amountBase, status: "completed", transactionId: outcome.transactionId, failure: null }
          : { index, amountBase, status: "failed", transactionId: null, failure: failureOf(outcome) };
      });
      return settleItems(sql, { payoutId: payout.id, items, now: deps.clock.now() });
    },
  });
};

const independent = async (deps: AccountPayoutRunnerDeps, payout: AccountsPayout): Promise<void> => {
  for (let after = -1; after < ROWS_MAX;) {
    const rows = await deps.repository.items({ payoutId: payout.id, after, limit: ROWS_AT_ONCE, status: null });
    if (rows.length === 0) break;
    await someRows(deps, payout, rows);
    after = rows.at(-1)?.index ?? ROWS_MAX;
  }
  const settled = await deps.payouts.find(payout.id);
  if (settled === null) return;
  if (settled.itemsCompleted + settled.itemsFailed !== settled.itemsTotal)
    throw new Error(`${payout.id} has rows that are neither paid nor refused, and are not to be found.`);
  const end =
    settled.itemsFailed === 0
      ? ({ status: "completed", subStatus: "full" } as const)
      : settled.itemsCompleted === 0
        ? ({ status: "failed", subStatus: "full" } as const)
        : ({ status: "partially_completed", subStatus: "partial" } as const);
  await deps.payouts.finish(payout.id, end, deps.clock.now());
};

/** Posts the rows of a payout that is processing, and ends the payout. */
const run = (deps: AccountPayoutRunnerDeps, payout: AccountsPayout): Promise<void> =>
  payout.mode === "atomic" ? atomic(deps, payout) : independent(deps, payout);

/**
 * Pays accepted payouts between accounts. Every row has its own key in the ledger, and its state changes in the transaction that posts
 * the row, so any instance can repeat a run after a crash.
 */
export const createAccountPayoutRunner = (deps: AccountPayoutRunnerDeps) => {
  return { run: bindDeps(deps, run) };
};

export type AccountPayoutRunner = ReturnType<typeof createAccountPayoutRunner>;
