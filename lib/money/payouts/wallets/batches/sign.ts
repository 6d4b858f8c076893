import { addSeconds } from "@/lib/core/clock";
import { type DomainError, isDomainError } from "@/lib/core/errors";
import { validitySeconds } from "@/lib/chain/smart-accounts/service";
import { sponsoredCostOf } from "@/lib/books/sponsorship/service";
import type { UserOperationGas } from "@/lib/chain/ports/bundler";
import type { AccountPayout } from "@/lib/chain/ports/smart-accounts";
import {
  batchRefused,
  NOT_EVALUATED,
  notEnough,
  PAID_BY_LOST_MOVE,
  recipientFrozen,
  rowRefused,
  treasuryFrozen,
} from "./failures";
import { waitsForGas } from "./gas-wait";
import { hasLostPayment } from "./lost-payments";
import { isSigningAllowed } from "./signing-permission";
import { attemptName, batchName, type PayableRow } from "./payout-batch";
import { replaced } from "./replaced";
import { stoppedRows, type StoppedRow } from "./screen-again";
import { placeOf, type Step, type StepResult } from "./step";

/**
 * Milliseconds for which a batch is tried again when the chain refuses it although no row is at
 * fault. After this time the batch fails.
 */
const BLOCKED_MS_MAX = 120_000;
/**
 * The smallest number of rows in a batch that is halved. A batch with fewer rows cannot be too
 * large for one transaction.
 */
const HALVED_ROWS_MIN = 20;

/**
 * Runs a step of a queued batch: checks and signs its unpaid rows, and stores the signed operation
 * before it is submitted.
 */
export const queued = async (step: Step): Promise<StepResult> => {
  const { batch, repository } = step;
  if (await waitsForGas(step)) return "waits";
  if (!(await mayDeploy(step))) return "waits";
  const rows = await repository.rowsOf(batch);
  if (rows.length === 0) throw new Error(`Batch ${batchName(batch)} has no row to pay.`);
  if (await hasLostPayment(step.lostMoves, placeOf(step), rows))
    return replaced(step, PAID_BY_LOST_MOVE);
  if (!(await isSigningAllowed(step, rows))) return failUnpaid(step, NOT_EVALUATED);
  // Frozen addresses are read before the simulation, which would fail for their rows without a
  // reason.
  const frozen = await step.freezes.areFrozen(holdingsOf(step, rows));
  if (frozen[0] === true)
    return failUnpaid(step, treasuryFrozen(step.token, step.account.address));
  const stuck = rows.flatMap((row, index) =>
    frozen[index + 1] === true
      ? [{ row, failure: recipientFrozen(step.token, row.recipient), isTemporary: false }]
      : [],
  );
  if (stuck.length > 0) return leaveOut(step, stuck);
  const gas = await simulate(step, rows);
  if ("result" in gas) return gas.result;
  const stopped = await stoppedRows(step, rows);
  return stopped.length > 0 ? leaveOut(step, stopped) : sign(step, rows, gas);
};

/** Returns the holders of the token to check: first the treasury, then each recipient. */
const holdingsOf = ({ token, account }: Step, rows: readonly PayableRow[]) => [
  { token, address: account.address },
  ...rows.map(({ recipient }) => ({ token, address: recipient })),
];

/**
 * Fails the rows whose recipients are listed or frozen; the next step signs the remaining rows.
 * Waits when the only problem is that a screening source did not answer.
 */
const leaveOut = async (step: Step, stopped: readonly StoppedRow[]): Promise<StepResult> => {
  const { payout, batch, repository, clock } = step;
  const final = stopped.filter(({ isTemporary }) => !isTemporary);
  const [first] = stopped;
  if (final.length === 0 && first !== undefined) return wait(step, first.failure);
  if (await wasExecuted(step)) return replaced(step);
  const outcomes = final.map(({ row, failure }) => ({
    ...row,
    status: "failed" as const,
    failure,
  }));
  await repository.setAside({ payout, batch, outcomes, now: clock.now() });
  return "moved";
};

/**
 * Whether the batch may be signed: the account is deployed already, or this batch has claimed its
 * deployment. Only one operation can deploy an account, because the chain rejects a second
 * operation with a factory.
 */
const mayDeploy = async ({
  smartAccounts,
  deployments,
  account,
  payout,
  batch,
  clock,
}: Step): Promise<boolean> =>
  (await smartAccounts.isDeployed(payout.chainId, account.address)) ||
  deployments.claim({
    chainId: payout.chainId,
    address: account.address,
    claimant: batchName(batch),
    now: clock.now(),
  });

/** Returns the content of the operation for the next attempt. */
const workOf = ({ account, payout, batch, token }: Step, rows: readonly PayableRow[]) => ({
  account,
  chainId: payout.chainId,
  legId: attemptName(batch, batch.attempt + 1),
  payout: { token: token.address, rows } satisfies AccountPayout,
});

type Simulated = UserOperationGas | { readonly result: StepResult };

/**
 * Estimates the gas of an operation that pays all rows. When the simulation fails, handles the
 * error and returns the result of the step instead.
 */
const simulate = async (step: Step, rows: readonly PayableRow[]): Promise<Simulated> => {
  const { smartAccounts, sponsorship, payout } = step;
  try {
    const gas = await smartAccounts.estimate(workOf(step, rows));
    sponsorship.checkGas({ chainId: payout.chainId, kind: "payoutBatch", gas });
    return gas;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    if (error.code !== "simulation_failed" && error.code !== "sponsor_budget_exceeded")
      throw error;
    return { result: await refused(step, rows, error) };
  }
};

/**
 * Handles a simulation that failed: fails the rows at fault, halves a batch that is too large for
 * one transaction, fails the batch, or waits.
 */
const refused = async (
  step: Step,
  rows: readonly PayableRow[],
  error: DomainError,
): Promise<StepResult> => {
  // This check comes first, because rows that were paid already must not fail for another reason. A
  // retry could then pay them again.
  if (await wasExecuted(step)) return replaced(step);
  const { smartAccounts, repository, payout, batch, account, token, clock } = step;
  const { faults, balanceBase } = await smartAccounts.probePayout(
    payout.chainId,
    account.address,
    {
      token: token.address,
      rows,
    },
  );
  const needed = rows.reduce((sum, { amountBase }) => sum + amountBase, 0n);
  // The rows are not at fault when the treasury lacks the money.
  if (balanceBase < needed) return wait(step, notEnough(token, needed, balanceBase));
  if (faults.length > 0) {
    const set = faults.flatMap(({ position, reason, mayPass }) => {
      const row = rows[position];
      return row === undefined
        ? []
        : [{ ...row, status: "failed" as const, failure: rowRefused(reason, mayPass) }];
    });
    await repository.setAside({ payout, batch, outcomes: set, now: clock.now() });
    return "moved";
  }
  if (error.extra.entryPointCode === undefined && rows.length >= HALVED_ROWS_MIN) {
    await repository.halve({ batch, rows, now: clock.now() });
    return "moved";
  }
  if (error.code === "sponsor_budget_exceeded")
    return fail(step, batchRefused(error.code, error.message));
  return wait(step, batchRefused(error.code, error.message));
};

/**
 * Whether the chain has already executed an operation of the next attempt. The database does not
 * contain such an operation when, for example, it was restored from a backup.
 */
const wasExecuted = async (step: Step): Promise<boolean> => {
  const { smartAccounts, payout, account, batch } = step;
  const final = await step.chains.finalBlock(step.payout.chainId);
  if (final === null) return false;
  const name = attemptName(batch, batch.attempt + 1);
  return smartAccounts.wasExecuted(payout.chainId, account.address, name, {
    blockNumber: final.number,
  });
};

const wait = async (
  step: Step,
  failure: ReturnType<typeof batchRefused>,
): Promise<StepResult> => {
  const { batch, repository, clock } = step;
  const now = clock.now();
  if (batch.blockedSince === null) await repository.block({ batch, failure, now });
  else if (now.getTime() - batch.blockedSince.getTime() >= BLOCKED_MS_MAX)
    return fail(step, failure);
  return "waits";
};

/**
 * Fails the batch. When an attempt that the database lost in a restore has already been executed,
 * the batch is in doubt instead.
 */
const failUnpaid = async (
  step: Step,
  failure: ReturnType<typeof batchRefused>,
): Promise<StepResult> => ((await wasExecuted(step)) ? replaced(step) : fail(step, failure));

const fail = async (
  step: Step,
  failure: ReturnType<typeof batchRefused>,
): Promise<StepResult> => {
  const { payout, batch, repository, clock } = step;
  await repository.fail({ payout, batch, failure, now: clock.now() });
  return "moved";
};

const sign = async (
  step: Step,
  rows: readonly PayableRow[],
  gas: UserOperationGas,
): Promise<StepResult> => {
  const { smartAccounts, chains, payout, batch, repository, clock } = step;
  const head = await chains.head(payout.chainId);
  const seconds = validitySeconds(chains.blockTimeMs(payout.chainId));
  const validUntil = addSeconds(new Date(Number(head.timestamp) * 1000), seconds);
  const { operation, userOpHash } = await smartAccounts.sign({
    ...workOf(step, rows),
    account: step.account,
    gas,
    validUntil,
  });
  try {
    const fromBlock = smartAccounts.searchFrom(payout.chainId, head.number);
    await repository.sign({
      payout,
      batch,
      signed: { operation, userOpHash, validUntil, fromBlock },
      // Fees may have risen since the payout was accepted, and the budget must cover the signed
      // price.
      maxGasWei: sponsoredCostOf(operation) ?? 0n,
      now: clock.now(),
    });
    return "moved";
  } catch (error) {
    if (!isDomainError(error) || error.code !== "sponsor_budget_exceeded") throw error;
    return fail(step, batchRefused(error.code, error.message));
  }
};
