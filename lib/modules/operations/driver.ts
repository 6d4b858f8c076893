import { isFinal } from "@/lib/core/status";
import { storedRouteLeg } from "@/lib/ports/routing-json";
import type { StepDeps } from "./legs/step";
import { isTemporary, stepLeg } from "./legs/step-leg";
import type { LegRow, OperationWithLegs } from "./repository";
import { isLegFinal } from "./summary";

/** Waits longer than this are left to the job's `run_at`, so that no worker is held by a bridge that takes hours. */
const HOLD_MS_MAX = 3000;
const BACKOFF_MS_MIN = 200;
const BACKOFF_MS_MAX = 15_000;
/** A leg that waits for a bridge for long is asked about less and less often. */
const SLOWEST_FACTOR = 20;
/** An operation counts as delayed after so many times what was estimated, and not before so many seconds. */
const DELAY_FACTOR = 4;
const DELAY_SECONDS_MIN = 30;

export interface DriverDeps extends StepDeps {
  pollIntervalMs(chainId: number): number;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Either the operation is final, or it is to be looked at again after so many milliseconds. */
export type DriveResult = { readonly done: true } | { readonly done: false; readonly againInMs: number };

interface Pace {
  failures: number;
  idleRounds: number;
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(finish, ms);
    function finish(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", finish);
      resolve();
    }
    signal.addEventListener("abort", finish);
  });

/**
 * Carries operations on until they are final. It keeps nothing that matters in memory: whichever instance drives an operation
 * reads its rows, asks the chains, and writes what it found.
 */
export const createOperationDriver = (deps: DriverDeps) => {
  const stepOne = async (
    operation: OperationWithLegs,
    leg: LegRow,
    pace: Pace,
    context: { signal: AbortSignal; submittedAt: Map<string, number> },
  ): Promise<number> => {
    try {
      const result = await stepLeg(deps, { operation, leg, ...context });
      pace.failures = 0;
      if (result === "moved") {
        pace.idleRounds = 0;
        return 0;
      }
      pace.idleRounds += 1;
      return pollMs(leg, pace);
    } catch (error) {
      pace.failures += 1;
      const fields = { operationId: operation.id, legId: leg.id, state: leg.state, err: error };
      if (isTemporary(error)) deps.log.warn(fields, "a leg could not be carried on; trying again");
      else deps.log.error(fields, "a leg could not be carried on");
      return Math.min(BACKOFF_MS_MAX, BACKOFF_MS_MIN * 2 ** Math.min(pace.failures, 10));
    }
  };

  const pollMs = (leg: LegRow, pace: Pace): number => {
    const interval = Math.min(deps.pollIntervalMs(leg.sourceChainId), deps.pollIntervalMs(leg.destChainId));
    // Fast while something is about to happen, slower with each hundred rounds of nothing.
    return interval * Math.min(SLOWEST_FACTOR, 1 + Math.floor(pace.idleRounds / 100));
  };

  /** Whatever it waits for, a bridge or a chain that does not answer: people are told that it takes longer than expected. */
  const noteDelay = async (operation: OperationWithLegs, open: readonly LegRow[]): Promise<void> => {
    if (operation.subStatus === "delayed" || operation.subStatus === "refunding") return;
    const estimated = Math.max(...open.map((leg) => storedRouteLeg.parse(leg.routeLeg).estimatedSeconds));
    const since = operation.acceptedAt ?? operation.createdAt;
    const late = since.getTime() + 1000 * Math.max(DELAY_SECONDS_MIN, DELAY_FACTOR * estimated);
    const now = deps.clock.now();
    if (now.getTime() > late) await deps.repository.markDelayed(operation.id, now);
  };

  const driveOnce = async (
    operation: OperationWithLegs,
    paces: Map<string, Pace>,
    context: { signal: AbortSignal; submittedAt: Map<string, number> },
  ): Promise<number> => {
    const open = operation.legs.filter((leg) => !isLegFinal(leg.state));
    const waits = await Promise.all(
      open.map((leg) => {
        const pace = paces.get(leg.id) ?? { failures: 0, idleRounds: 0 };
        paces.set(leg.id, pace);
        return stepOne(operation, leg, pace, context);
      }),
    );
    const waitMs = Math.min(...waits);
    if (waitMs > 0) await noteDelay(operation, open);
    return waitMs;
  };

  /** Runs until the operation is final, has to wait for long, or `signal` aborts (the lease is lost, or the worker stops). */
  const drive = async (operationId: string, signal: AbortSignal): Promise<DriveResult> => {
    const paces = new Map<string, Pace>();
    const context = { signal, submittedAt: new Map<string, number>() };
    while (!signal.aborted) {
      const operation = await deps.repository.find(operationId);
      if (operation === null || isFinal(operation.status)) return { done: true };
      if (operation.status === "pending") {
        await deps.repository.begin(operationId, deps.clock.now());
        continue;
      }
      const waitMs = await driveOnce(operation, paces, context);
      if (waitMs > HOLD_MS_MAX) return { done: false, againInMs: waitMs };
      if (waitMs > 0) await sleep(waitMs, signal);
    }
    return { done: false, againInMs: 0 };
  };

  return { drive };
};
