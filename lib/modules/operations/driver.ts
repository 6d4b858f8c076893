import { backoffMsAfter, pollMsAfter, sleepUntilAborted } from "@/lib/core/pacing";
import { isFinal } from "@/lib/core/status";
import { inSpan } from "@/lib/core/tracing";
import { createBlockWaits, type BlockWaits } from "./block-waits";
import type { LegWrites, StepDeps } from "./legs/step";
import { isTemporary } from "@/lib/core/temporary";
import { stepLeg } from "./legs/step-leg";
import type { Leg } from "./leg";
import type { LegRepository } from "./leg-repository";
import type { GasWaitRepository } from "./gas-wait-repository";
import type { Operation } from "./operation";
import type { OperationsRepository } from "./repository";
import type { Stepped } from "./step-decision";
import { isLegFinal } from "./summary";

/** Longer waits are left to the job's `run_at`. */
const HOLD_MS_MAX = 3000;
/**
 * How long after the last change of a leg a worker keeps its operation. Afterwards it looks once and releases the
 * operation, so that operations that only wait (for a bridge, or for a transaction that was never sent) do not occupy
 * workers.
 */
const HELD_MS = 5000;
/**
 * An operation counts as delayed after this many times its estimated duration, but not before the minimum number of
 * seconds.
 */
const DELAY_FACTOR = 4;
/** A leg that a new block wakes is looked at without one after this many poll intervals. */
const POLLS_WITHOUT_BLOCK = 2;
const DELAY_SECONDS_MIN = 30;

export interface DriverDeps extends Omit<StepDeps, "legs"> {
  repository: Pick<OperationsRepository, "find" | "findToDrive" | "markDelayed">;
  legs: LegRepository;
  pollIntervalMs(chainId: number): number;
  log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** Either the operation is final, or it has to be looked at again after this many milliseconds. `isRemoved`: the job ended with the operation. */
export type DriveResult =
  | { readonly done: true; readonly isRemoved: boolean }
  /** `failure`: every open leg ended in an error that is a bug, or needs a person. */
  | { readonly done: false; readonly againInMs: number; readonly failure?: string };

/** State of one drive of one operation. */
interface Drive {
  readonly signal: AbortSignal;
  /** Consecutive failed steps, by leg. */
  readonly failures: Map<string, number>;
  /** The errors of the latest steps that no outage explains, by leg. */
  readonly unexpected: Map<string, string>;
  /** The operation as this drive has read or written it last; null: it has to be read. */
  operation: Operation | null;
  /** Whether this drive has read the operation before. */
  isBegun: boolean;
  /** Whether a step of this drive has ended the operation. */
  hasEnded: boolean;
}

const newDrive = (signal: AbortSignal): Drive => ({
  ...{ signal, failures: new Map(), unexpected: new Map() },
  ...{ operation: null, isBegun: false, hasEnded: false },
});

/**
 * The writes of a drive's steps, which also keep its copy of the operation up to date, so that nothing is read again that this instance
 * wrote itself. After a write that came too late the operation is read again.
 */
const trackedWrites = (legs: LegRepository, drive: Drive): LegWrites => {
  const keep = (leg: Leg | null, state: Partial<Operation> = {}): boolean => {
    const { operation } = drive;
    if (leg === null || operation === null) {
      drive.operation = null;
      return leg !== null;
    }
    const next = operation.legs.map((each) => (each.id === leg.id ? leg : each));
    drive.operation = { ...operation, ...state, legs: next };
    return true;
  };
  const keepStepped = (stepped: Stepped | null): boolean => {
    if (stepped === null) return keep(null);
    const { leg, status, subStatus } = stepped;
    if (isFinal(status)) drive.hasEnded = true;
    return keep(leg, { status, subStatus });
  };
  return {
    adoptTransaction: legs.adoptTransaction,
    moveLeg: async (move) => keepStepped(await legs.moveLeg(move)),
    replaceOperation: async (...signed) => keepStepped(await legs.replaceOperation(...signed)),
    touchLeg: async (leg, change, now) => keep(await legs.touchLeg(leg, change, now)),
  };
};

/** Gas waits are stored with the operation: one that is pending begins before its first wait is noted, and is read again after each note. */
const trackedGasWaits = (
  gasWaits: GasWaitRepository,
  drive: Drive,
  begin: () => Promise<unknown>,
): GasWaitRepository => ({
  note: async (...wait) => {
    if (drive.operation?.status === "pending") await begin();
    await gasWaits.note(...wait);
    drive.operation = null;
  },
  end: async (...wait) => {
    await gasWaits.end(...wait);
    drive.operation = null;
  },
});

interface Wait {
  readonly failure: string | undefined;
  readonly ms: number;
  /** True when the wait is short and a leg changed lately, so the worker keeps the operation. */
  readonly isHeld: boolean;
}

/** Until a new block when all legs only wait for the chains; after an error only time counts. */
const pause = (blocks: BlockWaits, operation: Operation, ms: number, { failures, signal }: Drive): Promise<void> => {
  if (failures.size > 0) return sleepUntilAborted(ms, signal);
  const open = operation.legs.filter((leg) => !isLegFinal(leg.state));
  const chainIds = open.flatMap((leg) => [leg.sourceChainId, leg.destChainId]);
  return blocks.wait(chainIds, ms * POLLS_WITHOUT_BLOCK, signal);
};

/**
 * Carries operations on until they are final. It keeps no state in memory that matters: any instance can drive an
 * operation by reading its rows, querying the chains, and writing the results.
 */
export const createOperationDriver = (deps: DriverDeps) => {
  /** Last submission by leg; kept for the next time that this instance drives the operation. */
  const submittedAt = new Map<string, number>();
  const blocks = createBlockWaits({
    head: (chainId) => deps.chains.head(chainId),
    pollIntervalMs: deps.pollIntervalMs,
  });

  /** Counted from the leg's last change, so that the time continues over several claims of the job. */
  const idleMsOf = ({ updatedAt }: Leg): number => Math.max(0, deps.clock.now().getTime() - updatedAt.getTime());

  const pollMsOf = (leg: Leg): number => {
    const interval = Math.min(deps.pollIntervalMs(leg.sourceChainId), deps.pollIntervalMs(leg.destChainId));
    return pollMsAfter(interval, idleMsOf(leg));
  };

  /** @returns milliseconds until the next look */
  const stepOne = async (operation: Operation, leg: Leg, drive: Drive): Promise<number> => {
    const { signal, failures, unexpected } = drive;
    const legs = trackedWrites(deps.legs, drive);
    const gasWaits = trackedGasWaits(deps.gasWaits, drive, () => deps.legs.begin(operation, deps.clock.now()));
    const stepDeps = { ...deps, legs, gasWaits };
    unexpected.delete(leg.id);
    try {
      const fields = { "causeway.leg_id": leg.id, "causeway.chain_id": leg.sourceChainId };
      const result = await inSpan(`leg ${leg.state}`, { fields }, () =>
        stepLeg(stepDeps, { operation, leg, signal, submittedAt }),
      );
      failures.delete(leg.id);
      return result === "moved" ? 0 : pollMsOf(leg);
    } catch (error) {
      const count = (failures.get(leg.id) ?? 0) + 1;
      failures.set(leg.id, count);
      const fields = { operationId: operation.id, legId: leg.id, state: leg.state, err: error };
      if (isTemporary(error)) deps.log.warn(fields, "a leg could not be carried on; trying again");
      else {
        deps.log.error(fields, "a leg could not be carried on");
        unexpected.set(leg.id, error instanceof Error ? error.message : "unknown");
        // The error may come of what this drive keeps.
        drive.operation = null;
      }
      return backoffMsAfter(count, idleMsOf(leg));
    }
  };

  /** Marks an operation that takes longer than estimated, because of a bridge or a chain that does not answer. @returns whether it was marked */
  const noteDelay = async (operation: Operation, open: readonly Leg[]): Promise<boolean> => {
    if (operation.subStatus === "delayed" || operation.subStatus === "refunding") return false;
    if (operation.subStatus === "needs_attention") return false;
    const estimated = Math.max(...open.map((leg) => leg.routeLeg.estimatedSeconds));
    const since = operation.acceptedAt ?? operation.createdAt;
    const late = since.getTime() + 1000 * Math.max(DELAY_SECONDS_MIN, DELAY_FACTOR * estimated);
    const now = deps.clock.now();
    if (now.getTime() <= late) return false;
    await deps.repository.markDelayed(operation, now);
    return true;
  };

  const driveOnce = async (operation: Operation, drive: Drive): Promise<Wait> => {
    const open = operation.legs.filter((leg) => !isLegFinal(leg.state));
    const ms = Math.min(...(await Promise.all(open.map((leg) => stepOne(operation, { ...leg }, drive)))));
    if (ms > 0 && (await noteDelay(operation, open))) drive.operation = null;
    // The drive counts as failed only when every open leg failed unexpectedly.
    const failure = open.every(({ id }) => drive.unexpected.has(id)) ? [...drive.unexpected.values()][0] : undefined;
    return { ms, failure, isHeld: ms <= HOLD_MS_MAX && open.some((leg) => idleMsOf(leg) <= HELD_MS) };
  };

  /** The operation as this drive knows it, or as it is stored. Legs that are all final with an operation that is not mean that another instance wrote too. */
  const current = async (operationId: string, drive: Drive): Promise<Operation | null> => {
    const known = drive.operation;
    if (known !== null && (isFinal(known.status) || known.legs.some(({ state }) => !isLegFinal(state)))) return known;
    drive.operation = await deps.repository[drive.isBegun ? "find" : "findToDrive"](operationId);
    drive.isBegun = true;
    return drive.operation;
  };

  /**
   * Runs until the operation is final, the next look is too far ahead, the operation has been idle for too long, or
   * `signal` aborts (the lease is lost, or the worker stops).
   */
  const drive = async (operationId: string, signal: AbortSignal): Promise<DriveResult> => {
    const context = newDrive(signal);
    while (!signal.aborted) {
      const operation = await current(operationId, context);
      if (operation === null || isFinal(operation.status)) return { done: true, isRemoved: context.hasEnded };
      const { ms, isHeld, failure } = await driveOnce(operation, context);
      if (ms === 0) continue;
      // The first move of a leg begins its operation. This one's legs wait, so it begins without them.
      if (operation.status === "pending") {
        await deps.legs.begin(operation, deps.clock.now());
        context.operation = null;
      }
      if (!isHeld) return { done: false, againInMs: ms, ...(failure === undefined ? {} : { failure }) };
      await pause(blocks, operation, ms, context);
    }
    return { done: false, againInMs: 0 };
  };

  return { drive };
};
