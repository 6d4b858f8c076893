import { DomainError, isDomainError, isTemporary } from "@/lib/core/errors";
import { isFinal } from "@/lib/core/status";
import type { JobResult } from "@/lib/platform/jobs/service";
import { keysAmong, type PolicyEngine } from "@/lib/trust/policies/service";
import { reasonOf } from "@/lib/trust/screening/service";
import { driveStep, type DriveStepDeps, endOf, MOVES } from "./drive-step";
import type { PrivateStep, PrivateTransfer, StepFailure } from "./rows";
import { spendDigest } from "./spend-request";

export interface PrivacyRunnerDeps extends DriveStepDeps {
  /**
   * Returns whether the policies allowed the operation in exactly this form. Otherwise no proof is
   * made.
   */
  readonly isAllowed: (
    projectId: string,
    evaluationId: string | null,
    subject: { readonly id: string; readonly digest: Uint8Array },
  ) => Promise<boolean>;
  /**
   * Screens the recipient again.
   * @returns the addresses whose verdict stops the proof
   */
  readonly screenAgain: PolicyEngine["screenAgain"];
  readonly pollIntervalMs: (chainId: number) => number;
  readonly log: { warn(fields: object, message: string): void };
}

const ERROR_WAIT_MS = 2_000;
/** Interval in milliseconds at which the runner checks for a cancellation while a proof is made. */
const CANCEL_POLL_MS = 500;

const NOT_EVALUATED: StepFailure = {
  code: "policy_violation",
  message:
    "The policies have not allowed this operation as it is stored, so nothing was sent. The money is in the private note.",
  retryable: true,
};

interface Evaluated {
  readonly id: string;
  readonly projectId: string;
  readonly evaluationId: string | null;
  readonly transfer: PrivateTransfer;
}

const nameOf = (error: unknown): string =>
  isDomainError(error) ? error.code : error instanceof Error ? error.name : "unknown";

const isOpen = ({ state }: PrivateStep): boolean => state !== "completed" && state !== "failed";

const failureOf = (steps: readonly PrivateStep[]) => {
  const failure = steps.find((step) => step.failure !== null)?.failure ?? null;
  return failure === null ? {} : { failure };
};

const sumOfCompleted = (
  steps: readonly PrivateStep[],
  amountOf: (step: PrivateStep) => bigint,
): bigint =>
  steps
    .filter(({ state }) => state === "completed")
    .reduce((sum, step) => sum + amountOf(step), 0n);

const finish = async (
  { repository, clock }: PrivacyRunnerDeps,
  { projectId, operationId }: Pick<PrivateTransfer, "projectId" | "operationId">,
  steps: readonly PrivateStep[],
  begun: boolean,
): Promise<void> => {
  const { from, to } = endOf(steps);
  const actual = {
    spentBase: sumOfCompleted(steps, ({ withdrawBase }) => withdrawBase),
    receivedBase: sumOfCompleted(steps, ({ receivedBase }) => receivedBase ?? 0n),
  };
  // When no note was usable, the operation has not reached `processing` yet. It is moved there
  // first, because it can fail only from `processing`.
  if (!begun) {
    await repository.moveOperation(
      { projectId, operationId, ...MOVES.begin, event: "operation.processing" },
      clock.now(),
    );
  }
  const event = `operation.${to.status}`;
  await repository.moveOperation(
    { projectId, operationId, from, to, event, actual, ...failureOf(steps) },
    clock.now(),
  );
};

/**
 * Creates a signal that aborts when the lease is lost or the operation is cancelled. `end` ends the
 * checks for a cancellation.
 */
const watchCancellation = (
  { repository }: PrivacyRunnerDeps,
  operationId: string,
  signal: AbortSignal,
): { readonly signal: AbortSignal; readonly end: () => void } => {
  const controller = new AbortController();
  const stop = (): void => controller.abort(new Error("The proof was stopped."));
  signal.addEventListener("abort", stop, { once: true });
  const timer = setInterval(() => {
    repository.operationOf(operationId).then(
      (operation) => operation?.status === "cancelled" && stop(),
      () => undefined,
    );
  }, CANCEL_POLL_MS);
  const end = (): void => {
    clearInterval(timer);
    signal.removeEventListener("abort", stop);
  };
  return { signal: controller.signal, end };
};

/**
 * Records that the proof of the next queued step starts now. The first proof also moves the
 * operation from prepared to proving.
 */
const recordProving = async (
  { repository, clock }: PrivacyRunnerDeps,
  { projectId, operationId }: Pick<PrivateTransfer, "projectId" | "operationId">,
  steps: readonly PrivateStep[],
): Promise<void> => {
  const step = steps.find(({ state }) => state === "queued");
  if (step === undefined || step.provingSince !== null) return;
  const now = clock.now();
  await repository.moveOperation(
    { projectId, operationId, ...MOVES.prove, event: "operation.proving" },
    now,
  );
  await repository.moveStep(step, "queued", { provingSince: now }, null, now);
};

/** Drives every open step once. Returns true when at least one of them moved. */
const driveSteps = async (
  deps: PrivacyRunnerDeps,
  transfer: PrivateTransfer,
  steps: readonly PrivateStep[],
  signal: AbortSignal,
): Promise<boolean> => {
  let moved = false;
  for (const step of steps.filter(isOpen)) {
    if (signal.aborted) return moved;
    moved = (await driveStep(deps, transfer, step, signal)) === "moved" || moved;
  }
  return moved;
};

/**
 * Screens the recipient again.
 * @returns the failure of the operation's steps when the verdict stops the proof; otherwise null
 * @throws DomainError `provider_error` while a source that a policy requires does not answer
 */
const screenedOut = async (
  { screenAgain }: PrivacyRunnerDeps,
  id: string,
  { projectId, toAddress, chainId, createdBy }: PrivateTransfer,
): Promise<StepFailure | null> => {
  if (toAddress === null) return null;
  const [stopped] = await screenAgain({
    ...{ projectId, by: createdBy, walletIds: [], keyIds: keysAmong(createdBy) },
    addresses: [{ address: toAddress, chainId }],
    subject: { type: "operation", id, phase: "sign" },
  });
  if (stopped === undefined) return null;
  if (stopped.verdict.state === "unavailable")
    throw new DomainError(
      "provider_error",
      "A screening source does not answer. Nothing was sent; it is tried again.",
    );
  return {
    code: "screening_refused",
    message: `The recipient ${reasonOf(stopped.verdict)}, so nothing was sent. The money is in the private note.`,
    retryable: false,
  };
};

/**
 * Fails the unproved steps when the policies have not allowed the operation in its stored form, or
 * when the recipient's new screening verdict stops it.
 * @returns whether the steps were failed
 */
const refused = async (
  deps: PrivacyRunnerDeps,
  { id, projectId, evaluationId, transfer }: Evaluated,
  steps: readonly PrivateStep[],
): Promise<boolean> => {
  const { repository, isAllowed, clock } = deps;
  const queued = steps.filter(({ state }) => state === "queued");
  if (queued.length === 0) return false;
  const isOnItsChain = steps.every(({ chainId }) => chainId === transfer.chainId);
  const subject = { id, digest: spendDigest(transfer, steps) };
  const isEvaluated = isOnItsChain && (await isAllowed(projectId, evaluationId, subject));
  const failure = isEvaluated ? await screenedOut(deps, id, transfer) : NOT_EVALUATED;
  if (failure === null) return false;
  for (const step of queued)
    await repository.moveStep(step, "failed", { failure }, null, clock.now());
  return true;
};

/** Whether two reads of the steps spend the same notes, on the same chain, in the same amounts. */
const isSame = (one: readonly PrivateStep[], other: readonly PrivateStep[]): boolean =>
  one.length === other.length &&
  one.every((step, position) => {
    const again = other[position];
    if (again === undefined) return false;
    const { noteId, chainId, withdrawBase, outBase } = again;
    return (
      step.noteId === noteId &&
      step.chainId === chainId &&
      step.withdrawBase === withdrawBase &&
      step.outBase === outBase
    );
  });

const run = async (
  deps: PrivacyRunnerDeps,
  operationId: string,
  signal: AbortSignal,
): Promise<JobResult> => {
  const { repository } = deps;
  while (!signal.aborted) {
    const operation = await repository.operationOf(operationId);
    if (operation === null || isFinal(operation.status as never)) return { done: true };
    // The job ends here, because the approval enqueues a new job.
    if (operation.subStatus === "awaiting_approval") return { done: true };
    const transfer = await repository.findByOperation(operation.projectId, operationId);
    if (transfer === null) throw new Error(`There is no private transfer of ${operationId}.`);
    const before = await repository.steps(operation.projectId, operationId);
    if (!before.some(isOpen)) {
      await finish(deps, transfer, before, operation.status === "processing");
      continue;
    }
    try {
      if (await refused(deps, { ...operation, transfer }, before)) continue;
    } catch (error) {
      if (!isTemporary(error)) throw error;
      return { done: false, againInMs: ERROR_WAIT_MS };
    }
    await recordProving(deps, transfer, before);
    const steps = await repository.steps(operation.projectId, operationId);
    // Only checked steps may be proved, so steps that have changed since are checked again.
    if (!isSame(before, steps)) continue;
    const watch = watchCancellation(deps, operationId, signal);
    try {
      if (await driveSteps(deps, transfer, steps, watch.signal)) continue;
    } catch (error) {
      if (watch.signal.aborted) continue;
      // The error's text is not logged: a node may quote the request, which contains the recipient.
      deps.log.warn({ operationId, reason: nameOf(error) }, "a private operation has to wait");
      // Outages do not count as failures of the job; other errors do.
      return isTemporary(error)
        ? { done: false, againInMs: ERROR_WAIT_MS }
        : { done: false, againInMs: ERROR_WAIT_MS, failure: nameOf(error) };
    } finally {
      watch.end();
    }
    return { done: false, againInMs: deps.pollIntervalMs(transfer.chainId) };
  }
  return { done: false, againInMs: 0 };
};

/**
 * Drives private operations until they are final. All state is in the database, so any instance can
 * continue.
 */
export const createPrivacyRunner = (deps: PrivacyRunnerDeps) => ({
  run: (operationId: string, signal: AbortSignal): Promise<JobResult> =>
    run(deps, operationId, signal),
});
