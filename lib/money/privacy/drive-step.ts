import type { GasWaitRepository, LeglessMove } from "@/lib/money/operations/service";
import type { PrivateStep, PrivateTransfer, StepFailure } from "./rows";
import { addSeconds, type Clock } from "@/lib/core/clock";
import type { CappedFees } from "@/lib/core/capped-fees";
import {
  type ChainTransactionsService,
  NotWantedError,
} from "@/lib/chain/transactions/service";
import type { SigningGate } from "@/lib/money/signing/service";
import {
  NoteGoneError,
  NotReadyError,
  type PrivacyEngine,
  type Spend,
  type SpendOutcome,
  type SpendRefusal,
  type SpendTransaction,
} from "@/lib/money/ports/privacy";
import type { EvmAddress } from "@/lib/core/evm";
import type { PrivateWallets } from "./private-wallets";
import type { PrivacyRepository } from "./repository";

// The status changes of a private operation without legs. operations/summary.ts lists all changes.

type Move = Pick<LeglessMove, "from" | "to">;

const PREPARED = { status: "pending", subStatus: "prepared" } as const;
const PROVING = { status: "pending", subStatus: "proving" } as const;
const BEGUN = { status: "processing", subStatus: "queued" } as const;
const SUBMITTED = { status: "processing", subStatus: "source_submitted" } as const;

export const MOVES = {
  prove: { from: [PREPARED], to: PROVING },
  /** None of the operation's notes could be used, so it ends without a proof. */
  begin: { from: [PREPARED, PROVING], to: BEGUN },
  /**
   * A proof was made, and its transaction will be sent. An operation with several steps may already
   * be in this state.
   */
  submit: { from: [PREPARED, PROVING, SUBMITTED], to: SUBMITTED },
} as const satisfies Record<string, Move>;

/**
 * The last change of an operation whose steps have all ended. When a step has completed, the
 * operation has reached `submitted`, so it can leave only that state.
 */
export const endOf = (steps: readonly Pick<PrivateStep, "state">[]): Move => {
  const done = steps.filter(({ state }) => state === "completed").length;
  if (done === 0)
    return { from: [BEGUN, SUBMITTED], to: { status: "failed", subStatus: "queued" } };
  return done === steps.length
    ? { from: [SUBMITTED], to: { status: "completed", subStatus: "full" } }
    : { from: [SUBMITTED], to: { status: "partially_completed", subStatus: "partial" } };
};

// Drives one spent note from its proof to the end. Every state is stored, so any instance can
// continue.

/**
 * Seconds within which the exchange of a private swap must be mined. A later transaction fails,
 * and the money stays in the note.
 */
const DEADLINE_SECONDS = 1200;
/**
 * Maximum number of proofs per step. A proof has to be repeated when the association set or the
 * pool's tree changes while it is made.
 */
const ATTEMPTS_MAX = 20;
/**
 * Maximum number of seconds, from the start of a step's proof, for which the step waits for a
 * usable note or for a lower network fee. Then the step fails, and the money stays in the note.
 */
const WAIT_SECONDS_MAX = 1800;

export interface DriveStepDeps {
  readonly repository: PrivacyRepository;
  readonly privateWallets: PrivateWallets;
  readonly engine: PrivacyEngine;
  readonly transactions: Pick<ChainTransactionsService, "send" | "find" | "chooseKey">;
  readonly fees: (chainId: number) => Promise<CappedFees>;
  readonly gasWaits: GasWaitRepository;
  /** Finds the transactions that are missing from a restored database. */
  readonly lostMoves: Pick<SigningGate, "lostTransaction" | "isLost">;
  readonly wallets: {
    treasury(projectId: string): Promise<{ readonly address: EvmAddress } | null>;
  };
  readonly clock: Clock;
}

/** `moved`: drive the step again at once. `waits`: nothing can be done now. */
type StepResult = "moved" | "waits";

const IN_NOTE = "The money is in the private note.";
const SPENT: StepFailure = {
  code: "note_spent",
  message:
    "The note was spent by a transaction that this operation does not know: by somebody who has the wallet's mnemonic, or by this operation before the database was restored. Look at the chain before you pay again.",
  retryable: false,
};
const REFUSED: StepFailure = {
  code: "pool_refused",
  message: `The contracts refuse it: a swap would bring less than its minimum, its time is over, or the recipient takes nothing. ${IN_NOTE}`,
  retryable: true,
};
const NOT_READY: StepFailure = {
  code: "note_not_ready",
  message: `The note could not be used for a long time. ${IN_NOTE}`,
  retryable: true,
};

const TOO_DEAR: StepFailure = {
  code: "network_fee_too_high",
  message: `The chain's network fee stayed above its cap for a long time, so nothing was sent. ${IN_NOTE}`,
  retryable: true,
};

/**
 * Identifies the transaction of one proof, so that a proof never gets two transactions.
 * step-repository.ts builds the same text in SQL.
 */
const purposeOf = ({ operationId, position }: PrivateStep, attempt: number): string =>
  `privacy:${operationId}:${String(position)}:${String(attempt)}`;

const moveTo = async (
  { repository }: DriveStepDeps,
  ...move: Parameters<PrivacyRepository["moveStep"]>
): Promise<StepResult> => {
  // Returns `moved` also when another worker moved the step first, because the caller has to read
  // the step again in both cases.
  await repository.moveStep(...move);
  return "moved";
};

const fail = (
  deps: DriveStepDeps,
  step: PrivateStep,
  failure: StepFailure,
): Promise<StepResult> => moveTo(deps, step, "failed", { failure }, null, deps.clock.now());

const complete = (
  deps: DriveStepDeps,
  step: PrivateStep,
  txHash: `0x${string}`,
  { blockNumber, receivedBase }: SpendOutcome,
): Promise<StepResult> => {
  const change = { txHash, blockNumber, receivedBase };
  // A step that was sent before a restore may be queued in the restored database. Its operation may
  // not have begun there, so the operation is moved too.
  const operation = step.state === "queued" ? submissionOf(step) : null;
  return moveTo(deps, step, "completed", change, operation, deps.clock.now());
};

/**
 * The change that moves the step's operation to `submitted`, because a proof of the step exists.
 */
const submissionOf = ({ projectId, operationId }: PrivateStep) => ({
  ...{ projectId, operationId, ...MOVES.submit },
  event: "operation.processing",
});

/**
 * Moves the step from submitted back to queued, for a new proof. Fails the step after
 * `ATTEMPTS_MAX` proofs.
 */
const proveAgain = (deps: DriveStepDeps, step: PrivateStep): Promise<StepResult> => {
  if (step.attempt + 1 >= ATTEMPTS_MAX) return fail(deps, step, NOT_READY);
  const now = deps.clock.now();
  const change = {
    attempt: step.attempt + 1,
    transaction: null,
    txHash: null,
    provingSince: now,
  };
  return moveTo(deps, step, "queued", change, null, now);
};

/**
 * Handles a spent note. The transactions of all attempts are checked before the step fails, because
 * a reorganisation deeper than the chain's confirmations can revive a transaction that had finally
 * failed. If the step failed although its own transaction paid, its retry would pay a second time.
 */
const settleSpentNote = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
): Promise<StepResult> => {
  for (let attempt = 0; attempt <= step.attempt; attempt += 1) {
    const sent = await deps.transactions.find(step.chainId, purposeOf(step, attempt));
    if (sent === null) continue;
    if (sent.minedHash === null || sent.status !== "final") return "waits";
    const outcome = await deps.engine.outcome(step.chainId, sent.minedHash);
    if (outcome === null) return "waits";
    if (outcome.success) return complete(deps, step, sent.minedHash, outcome);
  }
  return (await completeAsLost(deps, transfer, step)) ?? fail(deps, step, SPENT);
};

/**
 * The hash of the executor's transaction that spent the step's note, if that transaction is
 * missing from the restored database and a person has accepted it. The transaction contains the
 * stored proof, or another proof for the same payment that was made after the backup. Returns null
 * when there is no such transaction, and `not final` while the chain can still remove it.
 */
const lostHashOf = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
): Promise<`0x${string}` | "not final" | null> => {
  const { chainId, transaction } = step;
  const known =
    transaction === null ? null : await deps.lostMoves.lostTransaction(chainId, transaction);
  if (known !== null) return known;
  const spent = await deps.engine.spentBy(await spendOf(deps, transfer, step));
  if (spent === null || !(await deps.lostMoves.isLost(chainId, spent.txHash))) return null;
  return spent.isFinal ? spent.txHash : "not final";
};

/**
 * Completes a step whose transaction paid although it is missing from the restored database.
 * Returns null when another transaction spent the note.
 */
const completeAsLost = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
): Promise<StepResult | null> => {
  const hash = await lostHashOf(deps, transfer, step);
  if (hash === null) return null;
  if (hash === "not final") return "waits";
  const outcome = await deps.engine.outcome(step.chainId, hash);
  if (outcome === null) return "waits";
  return outcome.success ? complete(deps, step, hash, outcome) : null;
};

const handleRefusal = (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
  refusal: SpendRefusal,
): Promise<StepResult> => {
  if (refusal === "moved") return proveAgain(deps, step);
  return refusal === "spent"
    ? settleSpentNote(deps, transfer, step)
    : fail(deps, step, REFUSED);
};

const spendOf = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
): Promise<Spend> => {
  const { privateWallets, clock } = deps;
  const walletOf = async (id: string) =>
    privateWallets.keyOf(await privateWallets.find(transfer.projectId, id, "privacyWalletId"));
  const common = {
    chainId: step.chainId,
    token: transfer.token,
    wallet: await walletOf(transfer.walletId),
    noteId: step.noteId,
    withdrawBase: step.withdrawBase,
  };
  const { toWalletId, toAddress, path } = transfer;
  if (toWalletId === null || step.slotNumber === null) {
    if (toAddress === null) throw new Error(`${transfer.id} has no recipient.`);
    return { ...common, to: "address", recipient: toAddress };
  }
  const treasury = await deps.wallets.treasury(transfer.projectId);
  if (treasury === null) throw new Error("The project has no treasury.");
  return {
    ...common,
    to: "note",
    slot: { wallet: await walletOf(toWalletId), index: step.slotNumber },
    tokenOut: transfer.tokenOut,
    path,
    minimumOutBase: path === null ? 0n : step.outBase,
    exitOwner: treasury.address,
    deadline: addSeconds(clock.now(), DEADLINE_SECONDS),
  };
};

const isOverdue = ({ clock }: DriveStepDeps, { provingSince }: PrivateStep): boolean =>
  provingSince !== null && addSeconds(provingSince, WAIT_SECONDS_MAX) < clock.now();

/**
 * Moves the step from queued to proved, and stores the proof's transaction before it is sent. The
 * same database transaction moves the operation, so nothing is stored when the operation was
 * cancelled meanwhile.
 */
const prove = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
  signal: AbortSignal,
): Promise<StepResult> => {
  const { repository, engine, clock } = deps;
  let transaction: SpendTransaction;
  try {
    // The remaining time counts from the start of the proof. It is only displayed, so the proof
    // does not wait for this write.
    const onStart = (): void =>
      void repository.recordProofStart(step, clock.now()).catch(() => undefined);
    transaction = await engine.prove(await spendOf(deps, transfer, step), signal, onStart);
  } catch (error) {
    // The time limit is checked after the attempt, so that a step is tried at least once after an
    // outage.
    if (error instanceof NotReadyError)
      return isOverdue(deps, step) ? fail(deps, step, NOT_READY) : "waits";
    if (error instanceof NoteGoneError) return settleSpentNote(deps, transfer, step);
    throw error;
  }
  return moveTo(deps, step, "proved", { transaction }, submissionOf(step), clock.now());
};

const transactionOf = ({ transaction, operationId }: PrivateStep): SpendTransaction => {
  if (transaction === null)
    throw new Error(`A proved step of ${operationId} has no transaction.`);
  return transaction;
};

const operationKey = ({ projectId, operationId }: PrivateStep) => ({
  projectId,
  id: operationId,
});

/**
 * The chain's current fees; null while they are above the chain's cap. Also stores that the
 * operation waits for lower fees, or that this wait has ended.
 */
const feesForStep = async (
  deps: DriveStepDeps,
  step: PrivateStep,
): Promise<CappedFees | null> => {
  const { chainId } = step;
  const fees = await deps.fees(chainId);
  const now = deps.clock.now();
  if (fees.aboveCap === null) await deps.gasWaits.end(operationKey(step), chainId, now);
  else await deps.gasWaits.note(operationKey(step), chainId, fees.aboveCap, now);
  return fees.aboveCap === null ? fees : null;
};

/**
 * Moves the step from proved to submitted, or repeats the proof when the contracts would reject it.
 * The step waits while the network fee is above the chain's cap, and fails when the wait takes too
 * long. A step that fails here has sent nothing, so its money is in the note.
 */
const submit = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
): Promise<StepResult> => {
  const { to, data } = transactionOf(step);
  const { chainId } = step;
  const fees = await feesForStep(deps, step);
  if (fees === null) return isOverdue(deps, step) ? fail(deps, step, TOO_DEAR) : "waits";
  const checked = await deps.engine.check(chainId, { to, data });
  if ("refusal" in checked) return handleRefusal(deps, transfer, step, checked.refusal);
  const purpose = purposeOf(step, step.attempt);
  const { keyId } = await deps.transactions.chooseKey({
    chainId,
    to,
    costWei: checked.gas * fees.maxFeePerGas,
  });
  const transaction = { chainId, keyId, purpose, to, data, value: 0n, gas: checked.gas, fees };
  try {
    await deps.transactions.send(transaction, (tx) =>
      deps.repository.claimSubmission(tx, step, deps.clock.now()),
    );
  } catch (error) {
    // Another worker has moved this step.
    if (!(error instanceof NotWantedError)) throw error;
  }
  return "moved";
};

/**
 * Moves the step from submitted to completed once the transaction is final. When the final
 * transaction has failed, the step is proved again or fails. The chain transactions service sends
 * the transaction again when nodes have lost it.
 */
const confirm = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
): Promise<StepResult> => {
  const { engine, clock } = deps;
  const sent = await deps.transactions.find(step.chainId, purposeOf(step, step.attempt));
  if (sent === null) throw new Error("A transaction is missing that was stored.");
  if (step.txHash === null)
    return moveTo(deps, step, "submitted", { txHash: sent.hash }, null, clock.now());
  if (sent.minedHash === null) {
    // Records whether the operation waits for lower fees. The transaction was signed when the fee
    // was below the cap, and is mined once the fee has fallen again.
    await feesForStep(deps, step);
    return "waits";
  }
  // A reorganisation can still remove a transaction that is mined but not final.
  if (sent.status !== "final") return "waits";
  const outcome = await engine.outcome(step.chainId, sent.minedHash);
  if (outcome === null) return "waits";
  if (outcome.success) return complete(deps, step, sent.minedHash, outcome);
  const { to, data } = transactionOf(step);
  const checked = await engine.check(step.chainId, { to, data });
  return "refusal" in checked
    ? handleRefusal(deps, transfer, step, checked.refusal)
    : proveAgain(deps, step);
};

/**
 * Does the next part of a step: proves, submits or confirms it.
 * @throws DomainError `chain_unavailable`, `provider_error`; the signal's reason
 */
export const driveStep = async (
  deps: DriveStepDeps,
  transfer: PrivateTransfer,
  step: PrivateStep,
  signal: AbortSignal,
): Promise<StepResult> => {
  switch (step.state) {
    case "queued":
      return prove(deps, transfer, step, signal);
    case "proved":
      return submit(deps, transfer, step);
    case "submitted":
      return confirm(deps, transfer, step);
    case "completed":
    case "failed":
      return "waits";
  }
};
