import { backoffMsAfter, pollMsAfter, sleepUntilAborted } from "@/lib/core/pacing";
import { isFinal } from "@/lib/core/status";
import { inSpan } from "@/lib/core/tracing";
import { type BlockWaits, createBlockWaits } from "./heads";
import type { LegWrites, StepDeps } from "./legs/step";
import { isTemporary } from "@/lib/core/errors";
import { stepLeg } from "./legs/step-leg";
import type { Leg } from "./leg";
import type { LegRepository } from "./step-repository";
import type { GasWaitRepository } from "./state-repository";
import type { Operation } from "./operation";
import type { OperationsRepository } from "./repository";
import type { Stepped } from "./step-decision";
import { isLegFinal } from "./summary";
import type { Clock } from "@/lib/core/clock";
import type { UserOperation } from "@/lib/chain/ports/bundler";

/**
 * Maximum pause in milliseconds during which a worker keeps an operation. For a longer pause the
 * worker gives the job back, and sets the job's `run_at` to the end of the pause.
 */
const HOLD_MS_MAX = 3000;
/**
 * A worker keeps an operation for at most this many milliseconds after the last change of a leg.
 * Operations that only wait (for a bridge, or for a transaction that was never sent) therefore do
 * not occupy workers.
 */
const HELD_MS = 5000;
/**
 * An operation counts as delayed after this multiple of its estimated duration, but never before
 * `DELAY_SECONDS_MIN`.
 */
const DELAY_FACTOR = 4;
/** A leg that waits for a block is checked after this many poll intervals when no block arrives. */
const POLLS_WITHOUT_BLOCK = 2;
const DELAY_SECONDS_MIN = 30;

export interface DriverDeps extends Omit<StepDeps, "legs"> {
  repository: Pick<OperationsRepository, "find" | "findToDrive" | "markDelayed">;
  legs: LegRepository;
  pollIntervalMs(chainId: number): number;
  log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/**
 * `done: false`: the operation has to be driven again after `againInMs`. `isRemoved`: the
 * transaction that ended the operation has also removed the job.
 */
type DriveResult =
  | { readonly done: true; readonly isRemoved: boolean }
  /** `failure`: set when every open leg failed with an unexpected error, such as a bug. */
  | { readonly done: false; readonly againInMs: number; readonly failure?: string };

interface Drive {
  readonly signal: AbortSignal;
  readonly failures: Map<string, number>;
  /**
   * For each leg id, the error message of the leg's last step. Temporary errors, such as outages,
   * are not included.
   */
  readonly unexpected: Map<string, string>;
  /**
   * The operation as this drive last read or wrote it. Null when it must be read from the
   * database.
   */
  operation: Operation | null;
  isBegun: boolean;
  hasEnded: boolean;
}

const newDrive = (signal: AbortSignal): Drive => ({
  ...{ signal, failures: new Map(), unexpected: new Map() },
  ...{ operation: null, isBegun: false, hasEnded: false },
});

/**
 * Writes of a drive's steps. They also update the drive's copy of the operation, which saves a
 * read. After a lost compare-and-set the operation is read again.
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

/**
 * Wraps the gas wait repository for one drive. A pending operation begins before its first wait is
 * stored. After each write the drive reads the operation again.
 */
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
  /** True when the worker keeps the operation: the pause is short and a leg changed recently. */
  readonly isHeld: boolean;
}

/**
 * Waits for a new block of the legs' chains, or until a time limit. After an error, waits for a
 * fixed time instead, because a new block would not help.
 */
const pause = (
  blocks: BlockWaits,
  operation: Operation,
  ms: number,
  { failures, signal }: Drive,
): Promise<void> => {
  if (failures.size > 0) return sleepUntilAborted(ms, signal);
  const open = operation.legs.filter((leg) => !isLegFinal(leg.state));
  const chainIds = open.flatMap((leg) => [leg.sourceChainId, leg.destChainId]);
  return blocks.wait(chainIds, ms * POLLS_WITHOUT_BLOCK, signal);
};

/**
 * Drives operations until they are final. The state is in the database, so any instance can
 * continue an operation.
 */
export const createOperationDriver = (deps: DriverDeps) => {
  /**
   * For each leg id, the time of the leg's last submission. The entries remain between the drives
   * of an operation.
   */
  const submittedAt = new Map<string, number>();
  const blocks = createBlockWaits({
    head: (chainId) => deps.chains.head(chainId),
    pollIntervalMs: deps.pollIntervalMs,
  });

  /**
   * Milliseconds since the leg's last change. The time of the change is stored, so another worker
   * that claims the job counts from there.
   */
  const idleMsOf = ({ updatedAt }: Leg): number =>
    Math.max(0, deps.clock.now().getTime() - updatedAt.getTime());

  const pollMsOf = (leg: Leg): number => {
    const interval = Math.min(
      deps.pollIntervalMs(leg.sourceChainId),
      deps.pollIntervalMs(leg.destChainId),
    );
    return pollMsAfter(interval, idleMsOf(leg));
  };

  /**
   * Runs one step of a leg.
   * @returns milliseconds until the next step of the leg
   */
  const stepOne = async (operation: Operation, leg: Leg, drive: Drive): Promise<number> => {
    const { signal, failures, unexpected } = drive;
    const legs = trackedWrites(deps.legs, drive);
    const gasWaits = trackedGasWaits(deps.gasWaits, drive, () =>
      deps.legs.begin(operation, deps.clock.now()),
    );
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
      if (isTemporary(error))
        deps.log.warn(fields, "a leg could not be carried on; trying again");
      else {
        deps.log.error(fields, "a leg could not be carried on");
        unexpected.set(leg.id, error instanceof Error ? error.message : "unknown");
        // The drive's copy of the operation may have caused the error, so the operation is read
        // again.
        drive.operation = null;
      }
      return backoffMsAfter(count, idleMsOf(leg));
    }
  };

  /**
   * Marks an operation as delayed when it takes far longer than estimated.
   * @returns whether the operation was marked
   */
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
    const ms = Math.min(
      ...(await Promise.all(open.map((leg) => stepOne(operation, { ...leg }, drive)))),
    );
    if (ms > 0 && (await noteDelay(operation, open))) drive.operation = null;
    // A drive fails only when every open leg failed unexpectedly.
    const failure = open.every(({ id }) => drive.unexpected.has(id))
      ? [...drive.unexpected.values()][0]
      : undefined;
    return {
      ms,
      failure,
      isHeld: ms <= HOLD_MS_MAX && open.some((leg) => idleMsOf(leg) <= HELD_MS),
    };
  };

  /**
   * Returns the drive's copy of the operation, or reads the operation. A copy is outdated when all
   * its legs are final but the operation is not, because another instance has then written too.
   */
  const current = async (operationId: string, drive: Drive): Promise<Operation | null> => {
    const known = drive.operation;
    if (
      known !== null &&
      (isFinal(known.status) || known.legs.some(({ state }) => !isLegFinal(state)))
    )
      return known;
    drive.operation =
      await deps.repository[drive.isBegun ? "find" : "findToDrive"](operationId);
    drive.isBegun = true;
    return drive.operation;
  };

  /**
   * Runs until the operation is final, the pause before the next step is too long, no leg has
   * changed for too long, or `signal` aborts (the lease is lost, or the worker stops).
   */
  const drive = async (operationId: string, signal: AbortSignal): Promise<DriveResult> => {
    const context = newDrive(signal);
    while (!signal.aborted) {
      const operation = await current(operationId, context);
      if (operation === null || isFinal(operation.status))
        return { done: true, isRemoved: context.hasEnded };
      const { ms, isHeld, failure } = await driveOnce(operation, context);
      if (ms === 0) continue;
      // Usually the first move of a leg begins the operation. Here no leg has moved, so the
      // operation is begun separately.
      if (operation.status === "pending") {
        await deps.legs.begin(operation, deps.clock.now());
        context.operation = null;
      }
      if (!isHeld)
        return { done: false, againInMs: ms, ...(failure === undefined ? {} : { failure }) };
      await pause(blocks, operation, ms, context);
    }
    return { done: false, againInMs: 0 };
  };

  return { drive };
};

interface Executed {
  readonly operation: UserOperation;
  readonly userOpHash: `0x${string}`;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

interface AdoptDeps {
  readonly repository: Pick<OperationsRepository, "find">;
  readonly legs: Pick<LegRepository, "moveLeg" | "replaceOperation">;
  readonly clock: Clock;
}

const UNDER_WAY = new Set<string>(["pending", "processing"]);

/**
 * Stores on a leg the user operation that the chain executed with the leg's nonce key. The driver
 * then follows this user operation. Needed when the database was restored to a time before the leg
 * was signed.
 * @returns false when the leg has ended, or its operation is not in progress
 */
export const createAdoptLeg =
  ({ repository, legs, clock }: AdoptDeps) =>
  async (
    at: { readonly id: string; readonly operationId: string },
    executed: Executed,
  ): Promise<boolean> => {
    const found = await repository.find(at.operationId);
    const leg = found?.legs.find(({ id }) => id === at.id);
    if (
      found === null ||
      leg === undefined ||
      leg.via === "transaction" ||
      !UNDER_WAY.has(found.status)
    )
      return false;
    const { operation: userOperation, userOpHash, validUntil, fromBlock } = executed;
    const now = clock.now();
    if (leg.state === "queued") {
      const change = { userOperation, userOpHash, validUntil, fromBlock };
      const event = { type: "leg.submitted", data: { userOpHash } };
      return (await legs.moveLeg({ leg, to: "submitted", change, event, now })) !== null;
    }
    if (leg.state !== "submitted") return false;
    const earlier = [
      ...leg.earlierUserOpHashes,
      ...(leg.userOpHash === null ? [] : [leg.userOpHash]),
    ];
    const signed = { userOperation, userOpHash, earlierUserOpHashes: earlier };
    return (
      (await legs.replaceOperation(leg, signed, leg.sponsorReservedWei ?? 0n, now)) !== null
    );
  };
