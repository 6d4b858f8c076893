import type { Clock } from "@/lib/core/clock";
import { isDomainError } from "@/lib/core/errors";
import { isFinal } from "@/lib/core/status";
import { toBigInt, toBigIntOrNull } from "@/lib/db/decimal";
import type { JobResult } from "@/lib/modules/jobs/service";
import type { StepRow, TransferRow } from "./repository";
import { createStepping, type SteppingDeps } from "./stepping";

export interface PrivacyRunnerDeps extends SteppingDeps {
  readonly pollIntervalMs: (chainId: number) => number;
  readonly log: { warn(fields: object, message: string): void };
  readonly clock: Clock;
}

const ERROR_WAIT_MS = 2_000;
/** How often a running proof looks whether its operation was cancelled. */
const CANCEL_LOOK_MS = 500;

const nameOf = (error: unknown): string =>
  isDomainError(error) ? error.code : error instanceof Error ? error.name : "unknown";

const isOpen = ({ state }: StepRow): boolean => state !== "completed" && state !== "failed";

/** How an operation ends whose steps have all ended. */
const endOf = (steps: readonly StepRow[]) => {
  const done = steps.filter(({ state }) => state === "completed");
  if (done.length === steps.length) return { status: "completed", subStatus: "full" } as const;
  if (done.length > 0) return { status: "partially_completed", subStatus: "partial" } as const;
  return { status: "failed", subStatus: "queued" } as const;
};

const failureOf = (steps: readonly StepRow[]) => {
  const found = steps.find(({ failure }) => failure !== null)?.failure;
  return found === null || found === undefined
    ? {}
    : { failure: found as { code: string; message: string; retryable: boolean } };
};

const sumOf = (steps: readonly StepRow[], of: (step: StepRow) => bigint): bigint =>
  steps.filter(({ state }) => state === "completed").reduce((sum, step) => sum + of(step), 0n);

/** Carries private operations on until they are final. It keeps nothing in memory that matters. */
export const createPrivacyRunner = (deps: PrivacyRunnerDeps) => {
  const { repository, clock } = deps;
  const stepping = createStepping(deps);

  const finish = async (operationId: string, steps: readonly StepRow[], begun: boolean): Promise<void> => {
    const to = endOf(steps);
    const actual = {
      spentBase: sumOf(steps, ({ withdrawBase }) => toBigInt(withdrawBase)),
      receivedBase: sumOf(steps, ({ receivedBase }) => toBigIntOrNull(receivedBase) ?? 0n),
    };
    // One whose notes could not be used never came to `processing`.
    if (!begun)
      await repository.moveOperation(
        {
          operationId,
          from: [
            { status: "pending", subStatus: "prepared" },
            { status: "pending", subStatus: "proving" },
          ],
          to: { status: "processing", subStatus: "queued" },
          event: "operation.processing",
        },
        clock.now(),
      );
    await repository.moveOperation(
      {
        operationId,
        from: [
          { status: "processing", subStatus: "source_submitted" },
          { status: "processing", subStatus: "source_confirmed" },
          { status: "processing", subStatus: "queued" },
        ],
        to,
        event: `operation.${to.status}`,
        actual,
        ...failureOf(steps),
      },
      clock.now(),
    );
  };

  /** Aborts when the lease is lost, or the operation was cancelled. */
  const watched = (operationId: string, signal: AbortSignal) => {
    const controller = new AbortController();
    const stop = (): void => controller.abort(new Error("The proof was stopped."));
    signal.addEventListener("abort", stop, { once: true });
    const timer = setInterval(() => {
      repository.operationOf(operationId).then(
        (operation) => operation?.status === "cancelled" && stop(),
        () => undefined,
      );
    }, CANCEL_LOOK_MS);
    const end = (): void => {
      clearInterval(timer);
      signal.removeEventListener("abort", stop);
    };
    return { signal: controller.signal, end };
  };

  const noteProving = async (operationId: string, steps: readonly StepRow[]): Promise<void> => {
    const step = steps.find(({ state }) => state === "queued");
    if (step === undefined || step.provingSince !== null) return;
    const now = clock.now();
    await repository.moveOperation(
      {
        operationId,
        from: [{ status: "pending", subStatus: "prepared" }],
        to: { status: "pending", subStatus: "proving" },
        event: "operation.proving",
      },
      now,
    );
    await repository.moveStep(step, "queued", { provingSince: now }, null, now);
  };

  /** One look at every open step. True when one of them moved. */
  const lookOnce = async (transfer: TransferRow, steps: readonly StepRow[], signal: AbortSignal): Promise<boolean> => {
    let moved = false;
    for (const step of steps.filter(isOpen)) {
      if (signal.aborted) return moved;
      moved = (await stepping.step(transfer, step, signal)) === "moved" || moved;
    }
    return moved;
  };

  const run = async (operationId: string, signal: AbortSignal): Promise<JobResult> => {
    while (!signal.aborted) {
      const operation = await repository.operationOf(operationId);
      if (operation === null || isFinal(operation.status as never)) return { done: true };
      // The approval makes a job of its own.
      if (operation.subStatus === "awaiting_approval") return { done: true };
      const transfer = await repository.findByOperation(operation.projectId, operationId);
      if (transfer === null) throw new Error(`There is no private transfer of ${operationId}.`);
      const before = await repository.steps(operation.projectId, operationId);
      if (!before.some(isOpen)) {
        await finish(operationId, before, operation.status === "processing");
        continue;
      }
      await noteProving(operationId, before);
      const steps = await repository.steps(operation.projectId, operationId);
      const watch = watched(operationId, signal);
      try {
        if (await lookOnce(transfer, steps, watch.signal)) continue;
      } catch (error) {
        if (watch.signal.aborted) continue;
        // Nothing that the error says: a node repeats what it was asked, and that names the recipient.
        deps.log.warn({ operationId, reason: nameOf(error) }, "a private operation has to wait");
        return { done: false, againInMs: ERROR_WAIT_MS };
      } finally {
        watch.end();
      }
      return { done: false, againInMs: deps.pollIntervalMs(transfer.chainId) };
    }
    return { done: false, againInMs: 0 };
  };

  return { run };
};
