import { isTemporary } from "@/lib/core/temporary";
import { backoffMsAfter, pollMsAfter, sleepUntilAborted } from "@/lib/core/pacing";
import type { ManagedAccount } from "@/lib/modules/smart-accounts/service";
import { mined } from "./follow";
import { offered } from "./offer";
import { queued } from "./sign";
import type { BatchState, DrivenPayout, PayoutBatch } from "./payout-batch";
import type { BatchDeps, Step, StepResult } from "./step";

/** The most batches of a payout that are signed and not mined. EntryPoint accepts them in any order, as each has its own nonce key. */
const IN_FLIGHT_MAX = 8;
/** A longer wait ends the turn; the job's `run_at` then sets the next one. */
const HOLD_MS_MAX = 3000;
/** Milliseconds after the last change of a batch for which a worker stays with the payout. */
const HELD_MS = 5000;

export interface BatchDriverDeps extends BatchDeps {
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

/** The payout is final, or its next turn is due after `againInMs` milliseconds. */
export type DriveResult =
  | { readonly done: true }
  /** `failure`: every batch under way ended in an error that is a bug, or needs a person. */
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

/** Batches that are under way, and as many queued batches as `IN_FLIGHT_MAX` allows; batches that are not blocked come first. */
const chosen = (open: readonly PayoutBatch[]): readonly PayoutBatch[] => {
  const moving = open.filter(({ state }) => state !== "queued");
  const waiting = open.filter(({ state }) => state === "queued");
  const ordered = [
    ...waiting.filter(({ blockedSince }) => blockedSince === null),
    ...waiting.filter(({ blockedSince }) => blockedSince !== null),
  ];
  return [...moving, ...ordered.slice(0, Math.max(0, IN_FLIGHT_MAX - moving.filter(isUnmined).length))];
};

interface Drive {
  readonly payout: DrivenPayout;
  readonly account: ManagedAccount;
  /** Consecutive failures by batch number. */
  readonly failures: Map<number, number>;
  /** The errors of the latest steps that no outage explains, by batch number. */
  readonly unexpected: Map<number, string>;
}

/**
 * Drives payouts to wallets until every row is paid, failed or cancelled. All state is in the database and on the chain, so any instance
 * can continue a payout.
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

  const accountOf = async ({ projectId, fromWalletId }: DrivenPayout): Promise<ManagedAccount> => {
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
      return result === "moved" ? 0 : pollMsAfter(deps.chains.pollIntervalMs(payout.chainId), idleMsOf(batch));
    } catch (error) {
      const count = (failures.get(batch.number) ?? 0) + 1;
      failures.set(batch.number, count);
      const fields = { payoutId: payout.payoutId, batch: batch.number, state: batch.state, err: error };
      if (isTemporary(error)) deps.log.warn(fields, "a batch could not be carried on; trying again");
      else {
        deps.log.error(fields, "a batch could not be carried on");
        unexpected.set(batch.number, error instanceof Error ? error.message : "unknown");
      }
      return backoffMsAfter(count, idleMsOf(batch));
    }
  };

  /**
   * Drives a payout that is processing until it is final, has to wait longer than `HOLD_MS_MAX`, had no change for `HELD_MS`, or `signal`
   * aborts (the lease is lost, or the worker stops).
   */
  const drive = async (at: { id: string; projectId: string }, signal: AbortSignal): Promise<DriveResult> => {
    const payout = await deps.repository.find(at.projectId, at.id);
    const context: Drive = { payout, account: await accountOf(payout), failures: new Map(), unexpected: new Map() };
    while (!signal.aborted) {
      const open = await deps.repository.open(payout);
      if (open.length === 0) {
        if (await deps.repository.finish(payout, deps.clock.now())) return { done: true };
        continue;
      }
      const active = chosen(open);
      const ms = Math.min(...(await Promise.all(active.map((batch) => stepOne(context, batch)))));
      if (ms === 0) continue;
      if (ms > HOLD_MS_MAX || active.every((batch) => idleMsOf(batch) > HELD_MS)) {
        const { unexpected } = context;
        const failure = active.every(({ number }) => unexpected.has(number)) ? [...unexpected.values()][0] : undefined;
        return { done: false, againInMs: ms, ...(failure === undefined ? {} : { failure }) };
      }
      await sleepUntilAborted(ms, signal);
    }
    return { done: false, againInMs: 0 };
  };

  return { drive };
};
