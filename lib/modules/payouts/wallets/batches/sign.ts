import { addSeconds } from "@/lib/core/clock";
import { isDomainError, type DomainError } from "@/lib/core/errors";
import { searchFrom, validitySeconds } from "@/lib/modules/smart-accounts/service";
import { sponsoredCostOf } from "@/lib/modules/sponsorship/service";
import type { UserOperationGas } from "@/lib/ports/bundler";
import type { AccountPayout } from "@/lib/ports/smart-accounts";
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

/** Milliseconds for which a batch is retried when the chain would not execute it although no row is at fault. Then it fails. */
const BLOCKED_MS_MAX = 120_000;
/** A batch with fewer rows is not halved, because its size cannot be the cause of the failure. */
const HALVED_ROWS_MIN = 20;

/** Signs the unpaid rows of a batch, and stores the signed operation before it is submitted. */
export const queued = async (step: Step): Promise<StepResult> => {
  const { batch, repository } = step;
  if (await waitsForGas(step)) return "waits";
  if (!(await mayDeploy(step))) return "waits";
  const rows = await repository.rowsOf(batch);
  if (rows.length === 0) throw new Error(`Batch ${batchName(batch)} has no row to pay.`);
  if (await hasLostPayment(step.lostMoves, placeOf(step), rows)) return replaced(step, PAID_BY_LOST_MOVE);
  if (!(await isSigningAllowed(step, rows))) return failUnpaid(step, NOT_EVALUATED);
  // Asked before the simulation, which refuses such rows without saying why.
  const frozen = await step.freezes.areFrozen(holdingsOf(step, rows));
  if (frozen[0] === true) return failUnpaid(step, treasuryFrozen(step.token, step.account.address));
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

/** The treasury, then each recipient. */
const holdingsOf = ({ token, account }: Step, rows: readonly PayableRow[]) => [
  { token, address: account.address },
  ...rows.map(({ recipient }) => ({ token, address: recipient })),
];

/** Fails the rows whose recipients are listed or frozen; the others are signed in the next step. Waits while only an answer is missing. */
const leaveOut = async (step: Step, stopped: readonly StoppedRow[]): Promise<StepResult> => {
  const { payout, batch, repository, clock } = step;
  const final = stopped.filter(({ isTemporary }) => !isTemporary);
  const [first] = stopped;
  if (final.length === 0 && first !== undefined) return wait(step, first.failure);
  if (await wasExecuted(step)) return replaced(step);
  const outcomes = final.map(({ row, failure }) => ({ ...row, status: "failed" as const, failure }));
  await repository.setAside({ payout, batch, outcomes, now: clock.now() });
  return "moved";
};

/** Whether this batch may deploy the account. Only one operation can deploy an account; a second one with a factory would be refused. */
const mayDeploy = async ({ smartAccounts, deployments, account, payout, batch, clock }: Step): Promise<boolean> =>
  (await smartAccounts.isDeployed(payout.chainId, account.address)) ||
  deployments.claim({
    chainId: payout.chainId,
    address: account.address,
    claimant: batchName(batch),
    now: clock.now(),
  });

/** The operation's content for the attempt that is signed now. */
const workOf = ({ account, payout, batch, token }: Step, rows: readonly PayableRow[]) => ({
  account,
  chainId: payout.chainId,
  legId: attemptName(batch, batch.attempt + 1),
  payout: { token: token.address, rows } satisfies AccountPayout,
});

type Simulated = UserOperationGas | { readonly result: StepResult };

/** Estimates the gas with which all rows are paid. When the estimate fails, handles the failure and returns its result instead. */
const simulate = async (step: Step, rows: readonly PayableRow[]): Promise<Simulated> => {
  const { smartAccounts, sponsorship, payout } = step;
  try {
    const gas = await smartAccounts.estimate(workOf(step, rows));
    sponsorship.checkGas({ chainId: payout.chainId, kind: "payoutBatch", gas });
    return gas;
  } catch (error) {
    if (!isDomainError(error)) throw error;
    if (error.code !== "simulation_failed" && error.code !== "sponsor_budget_exceeded") throw error;
    return { result: await refused(step, rows, error) };
  }
};

/** Handles a refused simulation: fails rows at fault, halves a batch that is too large for one transaction, or waits. */
const refused = async (step: Step, rows: readonly PayableRow[], error: DomainError): Promise<StepResult> => {
  // Asked first: rows that were paid already must not fail for another reason, which lets them be paid again.
  if (await wasExecuted(step)) return replaced(step);
  const { smartAccounts, repository, payout, batch, account, token, clock } = step;
  const { faults, balanceBase } = await smartAccounts.probePayout(payout.chainId, account.address, {
    token: token.address,
    rows,
  });
  const needed = rows.reduce((sum, { amountBase }) => sum + amountBase, 0n);
  // When the treasury lacks the money, no row is at fault.
  if (balanceBase < needed) return wait(step, notEnough(token, needed, balanceBase));
  if (faults.length > 0) {
    const set = faults.flatMap(({ position, reason }) => {
      const row = rows[position];
      return row === undefined ? [] : [{ ...row, status: "failed" as const, failure: rowRefused(reason) }];
    });
    await repository.setAside({ payout, batch, outcomes: set, now: clock.now() });
    return "moved";
  }
  if (error.extra.entryPointCode === undefined && rows.length >= HALVED_ROWS_MIN) {
    await repository.halve({ batch, rows, now: clock.now() });
    return "moved";
  }
  if (error.code === "sponsor_budget_exceeded") return fail(step, batchRefused(error.code, error.message));
  return wait(step, batchRefused(error.code, error.message));
};

/** Whether an operation of this attempt was executed that the database does not know, for example after a restore from a backup. */
const wasExecuted = async (step: Step): Promise<boolean> => {
  const { smartAccounts, payout, account, batch } = step;
  const final = await step.chains.finalBlock(step.payout.chainId);
  if (final === null) return false;
  const name = attemptName(batch, batch.attempt + 1);
  return smartAccounts.wasExecuted(payout.chainId, account.address, name, { blockNumber: final.number });
};

const wait = async (step: Step, failure: ReturnType<typeof batchRefused>): Promise<StepResult> => {
  const { batch, repository, clock } = step;
  const now = clock.now();
  if (batch.blockedSince === null) await repository.block({ batch, failure, now });
  else if (now.getTime() - batch.blockedSince.getTime() >= BLOCKED_MS_MAX) return fail(step, failure);
  return "waits";
};

/** Fails the batch, unless it was paid already by an attempt that the database has lost. */
const failUnpaid = async (step: Step, failure: ReturnType<typeof batchRefused>): Promise<StepResult> =>
  (await wasExecuted(step)) ? replaced(step) : fail(step, failure);

const fail = async (step: Step, failure: ReturnType<typeof batchRefused>): Promise<StepResult> => {
  const { payout, batch, repository, clock } = step;
  await repository.fail({ payout, batch, failure, now: clock.now() });
  return "moved";
};

const sign = async (step: Step, rows: readonly PayableRow[], gas: UserOperationGas): Promise<StepResult> => {
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
    await repository.sign({
      payout,
      batch,
      signed: { operation, userOpHash, validUntil, fromBlock: searchFrom(head.number) },
      // Fees may have risen since the payout was accepted, and the budget has to cover the signed price.
      maxGasWei: sponsoredCostOf(operation) ?? 0n,
      now: clock.now(),
    });
    return "moved";
  } catch (error) {
    if (!isDomainError(error) || error.code !== "sponsor_budget_exceeded") throw error;
    return fail(step, batchRefused(error.code, error.message));
  }
};
