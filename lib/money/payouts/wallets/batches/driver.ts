import { isTemporary } from "@/lib/core/errors";
import { backoffMsAfter, pollMsAfter, sleepUntilAborted } from "@/lib/core/pacing";
import type { ManagedAccount } from "@/lib/chain/smart-accounts/service";
import { mined } from "./follow";
import { offered } from "./offer";
import { queued } from "./sign";
import type { BatchState, DrivenPayout, PayoutBatch } from "./payout-batch";
import type { BatchDeps, Step, StepResult } from "./step";

/**
 * The maximum number of batches of a payout that are signed and not mined. EntryPoint accepts them
 * in any order, because each batch has a different nonce key.
 */
const IN_FLIGHT_MAX = 8;
/**
 * The longest wait in milliseconds during which a worker stays with the payout. A longer wait ends
 * the turn, and the job's `run_at` sets the time of the next turn.
 */
const HOLD_MS_MAX = 3000;
/**
 * Milliseconds for which a worker stays with a payout after the last change of one of its batches.
 */
const HELD_MS = 5000;

export interface BatchDriverDeps extends BatchDeps {
  readonly log: {
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/**
 * The result of a turn: the payout has ended, or its next turn is due after `againInMs`
 * milliseconds.
 */
export type DriveResult =
  | { readonly done: true }
  /**
   * `failure` is set when every open batch failed with an error that no outage explains. Then
   * there is a bug, or a person must act.
   */
  | { readonly done: false; readonly againInMs: number; readonly failure?: string };

const ended = (): Promise<StepResult> => Promise.resolve("waits");

const STEPS: Record<BatchState, (step: Step) => Promise<StepResult>> = {
  queued,
  signed: offered,
  sent: offered,
  mined,
  paid: ended,
  failed: ended,
  cancelled: ended,
};

const isUnmined = ({ state }: PayoutBatch): boolean => state === "signed" || state === "sent";

/**
 * Selects all batches that have started, and queued batches until `IN_FLIGHT_MAX` batches are in
 * flight. Batches that are not blocked come first.
 */
const chosen = (open: readonly PayoutBatch[]): readonly PayoutBatch[] => {
  const moving = open.filter(({ state }) => state !== "queued");
  const waiting = open.filter(({ state }) => state === "queued");
  const ordered = [
    ...waiting.filter(({ blockedSince }) => blockedSince === null),
    ...waiting.filter(({ blockedSince }) => blockedSince !== null),
  ];
  return [
    ...moving,
    ...ordered.slice(0, Math.max(0, IN_FLIGHT_MAX - moving.filter(isUnmined).length)),
  ];
};

interface Drive {
  readonly payout: DrivenPayout;
  readonly account: ManagedAccount;
  /** For each batch number, the number of consecutive failures. */
  readonly failures: Map<number, number>;
  /**
   * For each batch number, the error message of the latest step, if no outage explains the error.
   */
  readonly unexpected: Map<number, string>;
}

/**
 * Creates the driver, which processes payouts to wallets until every row is paid, failed or
 * cancelled. Any instance can continue a payout, because its state is in the database and on the
 * chain.
 */
export const createBatchDriver = (deps: BatchDriverDeps) => {
  const offeredAt = new Map<string, number>();

  const idleMsOf = ({ updatedAt }: PayoutBatch): number =>
    Math.max(0, deps.clock.now().getTime() - updatedAt.getTime());

  const stepOf = ({ payout, account }: Drive, batch: PayoutBatch): Step => ({
    ...deps,
    ...{ payout, batch, account, offeredAt },
    token: deps.chains.token(payout.chainId, batch.token),
  });

  const accountOf = async ({
    projectId,
    fromWalletId,
  }: DrivenPayout): Promise<ManagedAccount> => {
    const account = await deps.managedAccount(projectId, fromWalletId);
    if (account === null) throw new Error(`Wallet ${fromWalletId} has no managed key.`);
    return account;
  };

  /** Runs one step of a batch. @returns the milliseconds until its next step */
  const stepOne = async (drive: Drive, batch: PayoutBatch): Promise<number> => {
    const { payout, failures, unexpected } = drive;
    unexpected.delete(batch.number);
    try {
      const result = await STEPS[batch.state](stepOf(drive, batch));
      failures.delete(batch.number);
      return result === "moved"
        ? 0
        : pollMsAfter(deps.chains.pollIntervalMs(payout.chainId), idleMsOf(batch));
    } catch (error) {
      const count = (failures.get(batch.number) ?? 0) + 1;
      failures.set(batch.number, count);
      const fields = {
        payoutId: payout.payoutId,
        batch: batch.number,
        state: batch.state,
        err: error,
      };
      if (isTemporary(error))
        deps.log.warn(fields, "a batch could not be carried on; trying again");
      else {
        deps.log.error(fields, "a batch could not be carried on");
        unexpected.set(batch.number, error instanceof Error ? error.message : "unknown");
      }
      return backoffMsAfter(count, idleMsOf(batch));
    }
  };

  /**
   * Drives a payout whose status is processing. Returns when the payout is final, must wait longer
   * than `HOLD_MS_MAX`, or had no change for `HELD_MS`, and when `signal` aborts because the lease
   * is lost or the worker stops.
   */
  const drive = async (
    at: { id: string; projectId: string },
    signal: AbortSignal,
  ): Promise<DriveResult> => {
    const payout = await deps.repository.find(at.projectId, at.id);
    const context: Drive = {
      payout,
      account: await accountOf(payout),
      failures: new Map(),
      unexpected: new Map(),
    };
    while (!signal.aborted) {
      const open = await deps.repository.open(payout);
      if (open.length === 0) {
        if (await deps.repository.finish(payout, deps.clock.now())) return { done: true };
        continue;
      }
      const active = chosen(open);
      const ms = Math.min(
        ...(await Promise.all(active.map((batch) => stepOne(context, batch)))),
      );
      if (ms === 0) continue;
      if (ms > HOLD_MS_MAX || active.every((batch) => idleMsOf(batch) > HELD_MS)) {
        const { unexpected } = context;
        const failure = active.every(({ number }) => unexpected.has(number))
          ? [...unexpected.values()][0]
          : undefined;
        return { done: false, againInMs: ms, ...(failure === undefined ? {} : { failure }) };
      }
      await sleepUntilAborted(ms, signal);
    }
    return { done: false, againInMs: 0 };
  };

  return { drive };
};
