/**
 * Stores the attempts to execute a batch: the signed operation, whether it was submitted, and the
 * block that contains it.
 */
import { bindDeps } from "@/lib/core/bind-deps";
import { toDecimal } from "@/lib/platform/db/decimal";
import { Prisma } from "@/lib/platform/db/generated/client";
import { syncHold } from "@/lib/books/holds/service";
import type { UserOperation } from "@/lib/chain/ports/bundler";
import { toStored } from "@/lib/platform/db/codecs";
import { batchName, type DrivenPayout, type Failure, type PayoutBatch } from "./payout-batch";
import { adjustReservation } from "./reservations";
import {
  change,
  seenIn,
  type BatchRepositoryDeps,
  type Change,
  type Mined,
} from "./transition-repository";

interface Signed {
  readonly operation: UserOperation;
  readonly userOpHash: `0x${string}`;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

/**
 * The values that clear the columns of an attempt and of its state on the chain, so that the batch
 * has no signed operation.
 */
const NO_ATTEMPT: Change = {
  userOperation: Prisma.DbNull,
  userOpHash: null,
  validUntil: null,
  fromBlock: null,
  txHash: null,
  blockNumber: null,
  confirmations: 0,
  inDoubt: false,
};

/**
 * Changes a batch from queued to signed, and stores the signed operation.
 * @throws DomainError `sponsor_budget_exceeded` when the budget does not cover `maxGasWei`
 */
const sign = (
  { database, sponsorship }: BatchRepositoryDeps,
  input: {
    payout: DrivenPayout;
    batch: PayoutBatch;
    signed: Signed;
    maxGasWei: bigint;
    now: Date;
  },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const { payout, batch, signed, maxGasWei, now } = input;
    const data: Change = {
      attempt: batch.attempt + 1,
      userOperation: toStored(signed.operation),
      userOpHash: signed.userOpHash,
      validUntil: signed.validUntil,
      fromBlock: toDecimal(signed.fromBlock),
      blockedSince: null,
      failure: Prisma.DbNull,
    };
    if (!(await change(tx, batch, "signed", data, now))) return false;
    // The cost of earlier attempts stays reserved until the batch ends, because the reservation is
    // settled as one amount.
    const toWei = batch.formerGasWei + maxGasWei;
    await adjustReservation(tx, sponsorship, { payout, batch, toWei });
    return true;
  });

/** Changes a batch from signed to sent, or changes `in_doubt` of a sent batch. */
const sent = (
  { database }: BatchRepositoryDeps,
  { batch, inDoubt, now }: { batch: PayoutBatch; inDoubt: boolean; now: Date },
): Promise<boolean> => change(database.prisma, batch, "sent", { inDoubt }, now);

/**
 * Changes a batch from signed or sent to mined. Releases the hold, because the balance on chain no
 * longer includes the money.
 */
const mine = ({ database }: BatchRepositoryDeps, mined: Mined): Promise<boolean> =>
  database.transaction(async (tx) => {
    const data = { ...seenIn(mined, 1), inDoubt: false };
    if (!(await change(tx, mined.batch, "mined", data, mined.now))) return false;
    await syncHold(tx, batchName(mined.batch), false, mined.now);
    return true;
  });

/**
 * Stores that the operation reverted. The state of the batch is `sent`, because a reorganisation
 * may still remove the block.
 */
const noteRevert = (
  { database }: BatchRepositoryDeps,
  mined: Mined & { confirmations: number },
): Promise<boolean> =>
  change(
    database.prisma,
    mined.batch,
    "sent",
    { ...seenIn(mined, mined.confirmations), inDoubt: true },
    mined.now,
  );

const follow = (
  { database }: BatchRepositoryDeps,
  mined: Mined & { confirmations: number },
): Promise<boolean> =>
  change(database.prisma, mined.batch, "mined", seenIn(mined, mined.confirmations), mined.now);

/**
 * Changes a batch from mined to sent, because a reorganisation has removed its block. Holds the
 * money again, because the balance on chain includes it again.
 */
const unmine = (
  { database }: BatchRepositoryDeps,
  { batch, now }: { batch: PayoutBatch; now: Date },
): Promise<boolean> =>
  database.transaction(async (tx) => {
    const gone: Change = {
      txHash: null,
      blockNumber: null,
      confirmations: 0,
      gasCostWei: toDecimal(batch.formerGasWei),
    };
    if (!(await change(tx, batch, "sent", { ...gone, inDoubt: true }, now))) return false;
    await syncHold(tx, batchName(batch), true, now);
    return true;
  });

/**
 * Changes a batch from signed or sent to queued, because the attempt can no longer have any effect.
 */
const retry = (
  { database }: BatchRepositoryDeps,
  { batch, now }: { batch: PayoutBatch; now: Date },
): Promise<boolean> =>
  change(
    database.prisma,
    batch,
    "queued",
    { ...NO_ATTEMPT, formerGasWei: toDecimal(batch.gasCostWei) },
    now,
  );

/**
 * Stores that a queued batch could not be simulated although no row is at fault. The batch stays
 * queued.
 */
const block = (
  { database }: BatchRepositoryDeps,
  { batch, failure, now }: { batch: PayoutBatch; failure: Failure; now: Date },
): Promise<boolean> =>
  change(
    database.prisma,
    batch,
    "queued",
    { blockedSince: now, failure: toStored(failure) },
    now,
  );

export const createAttemptRepository = (deps: BatchRepositoryDeps) => ({
  sign: bindDeps(deps, sign),
  sent: bindDeps(deps, sent),
  mine: bindDeps(deps, mine),
  noteRevert: bindDeps(deps, noteRevert),
  follow: bindDeps(deps, follow),
  unmine: bindDeps(deps, unmine),
  retry: bindDeps(deps, retry),
  block: bindDeps(deps, block),
});
