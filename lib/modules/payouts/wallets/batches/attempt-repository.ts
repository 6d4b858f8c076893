/** Stores the attempts to execute a batch: the signed operation, whether it was sent, and the block that holds it. */
import { bindDeps } from "@/lib/core/bind-deps";
import { toDecimal } from "@/lib/db/decimal";
import { Prisma } from "@/lib/db/generated/client";
import { syncHold } from "@/lib/modules/holds/service";
import type { UserOperation } from "@/lib/ports/bundler";
import { toStored } from "@/lib/ports/routing-json";
import { batchName, type DrivenPayout, type Failure, type PayoutBatch } from "./payout-batch";
import { adjustReservation } from "./reservations";
import { change, seenIn, type BatchRepositoryDeps, type Change, type Mined } from "./transition-repository";

interface Signed {
  readonly operation: UserOperation;
  readonly userOpHash: `0x${string}`;
  readonly validUntil: Date;
  readonly fromBlock: bigint;
}

/** The signed operation, and its state on the chain. */
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

/** queued → signed. @throws DomainError `sponsor_budget_exceeded` when the budget does not carry `maxGasWei` */
const sign = (
  { database, sponsorship }: BatchRepositoryDeps,
  input: { payout: DrivenPayout; batch: PayoutBatch; signed: Signed; maxGasWei: bigint; now: Date },
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
    // The cost of earlier attempts stays reserved until the batch ends, when the whole reservation is settled.
    const toWei = batch.formerGasWei + maxGasWei;
    await adjustReservation(tx, sponsorship, { payout, batch, toWei });
    return true;
  });

/** signed → sent, or sent with another value of `in_doubt`. */
const sent = (
  { database }: BatchRepositoryDeps,
  { batch, inDoubt, now }: { batch: PayoutBatch; inDoubt: boolean; now: Date },
): Promise<boolean> => change(database.prisma, batch, "sent", { inDoubt }, now);

/** signed or sent → mined: the block shows the money as spent. */
const mine = ({ database }: BatchRepositoryDeps, mined: Mined): Promise<boolean> =>
  database.transaction(async (tx) => {
    const data = { ...seenIn(mined, 1), inDoubt: false };
    if (!(await change(tx, mined.batch, "mined", data, mined.now))) return false;
    await syncHold(tx, batchName(mined.batch), false, mined.now);
    return true;
  });

/** Notes that the operation reverted. The batch stays `sent`, because a reorganisation may still remove that block. */
const noteRevert = ({ database }: BatchRepositoryDeps, mined: Mined & { confirmations: number }): Promise<boolean> =>
  change(database.prisma, mined.batch, "sent", { ...seenIn(mined, mined.confirmations), inDoubt: true }, mined.now);

/** Notes the block that holds the operation now, and how many blocks are on top of it. */
const follow = ({ database }: BatchRepositoryDeps, mined: Mined & { confirmations: number }): Promise<boolean> =>
  change(database.prisma, mined.batch, "mined", seenIn(mined, mined.confirmations), mined.now);

/** mined → sent: a reorganisation took its block, and the money is to be spent again. */
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

/** signed or sent → queued: the attempt can never have an effect any more. */
const retry = (
  { database }: BatchRepositoryDeps,
  { batch, now }: { batch: PayoutBatch; now: Date },
): Promise<boolean> =>
  change(database.prisma, batch, "queued", { ...NO_ATTEMPT, formerGasWei: toDecimal(batch.gasCostWei) }, now);

/** queued stays: it could not be simulated, though no row of it is at fault. */
const block = (
  { database }: BatchRepositoryDeps,
  { batch, failure, now }: { batch: PayoutBatch; failure: Failure; now: Date },
): Promise<boolean> => change(database.prisma, batch, "queued", { blockedSince: now, failure: toStored(failure) }, now);

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
