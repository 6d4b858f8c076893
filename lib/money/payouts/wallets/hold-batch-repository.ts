/**
 * Holds the money of a payout to wallets, and reserves its part of the sponsor's budget. Each batch
 * has one hold and one reservation.
 */
import type { Tx } from "@/lib/platform/db/client";
import { toBigInt } from "@/lib/platform/db/decimal";
import { sqlOf, type Sql } from "@/lib/platform/db/sql";
import { sql } from "@/lib/platform/db/statement";
import { base, int, table } from "@/lib/platform/db/table";
import { insertHolds, requireFunds, syncHold, type Funds } from "@/lib/books/holds/service";
import type { Backing } from "@/lib/books/reserves/service";
import { dayOf, type GasCost, type SponsorshipService } from "@/lib/books/sponsorship/service";
import { batchName, batchVersion } from "./batches/payout-batch";
import {
  bearerOf,
  debitAccount,
  settleAccount,
  type BearingAccount,
} from "./account-side-repository";

/**
 * The kind under which batches count in sponsor budgets. A budget counts each batch of a payout as
 * a separate operation.
 */
export const SPONSORED_KIND = "payout";

export interface BatchHold {
  readonly number: number;
  /** Lower-case address of the token, or `native`. */
  readonly token: string;
  readonly amountBase: bigint;
}

export interface Holding {
  readonly payoutId: string;
  readonly projectId: string;
  readonly chainId: number;
  readonly walletAddress: string;
  readonly batches: readonly BatchHold[];
  readonly funds: readonly Funds[];
  /**
   * The check that the treasury retains the balance which backs global accounts; null when the
   * payout spends no such balance.
   */
  readonly backing: Backing | null;
  /**
   * The account that funds the payout. It is debited in the transaction that holds the money. Null:
   * the project funds the payout.
   */
  readonly account: BearingAccount | null;
  /**
   * The costs of the sponsor, each with the id from `batchName`; empty when the wallet pays the
   * network fees.
   */
  readonly costs: readonly GasCost[];
}

const reservations = table({ number: int, sponsorReservedWei: base });

const reserveSponsor = async (
  db: Sql,
  sponsorship: Pick<SponsorshipService, "reserve">,
  { payoutId, projectId, batches, costs }: Holding,
  now: Date,
): Promise<void> => {
  if (costs.length === 0) return;
  const wei = new Map(costs.map(({ legId, maxWei }) => [legId, maxWei]));
  const rows = batches.flatMap(({ number }) => {
    const maxWei = wei.get(batchName({ payoutId, number }));
    return maxWei === undefined ? [] : [{ number, sponsorReservedWei: maxWei }];
  });
  const day = dayOf(now).toISOString().slice(0, 10);
  await db.change(sql`
    UPDATE wallet_payout_batch b SET
      sponsor_reserved_wei = r.sponsor_reserved_wei,
      sponsor_day = ${day}::date
    FROM ${reservations.list(rows)} AS r
    WHERE b.project_id = ${projectId} AND b.payout_id = ${payoutId} AND b.number = r.number`);
  // The budget's row is locked last, because all other transactions that spend from the project's
  // budget wait until this one ends.
  await sponsorship.reserve(db, { projectId, kind: SPONSORED_KIND, costs }, now);
};

/**
 * Holds the money of the batches, and debits the account that funds them. Acquires its locks in the
 * order that operations use, which prevents deadlocks.
 * @throws FundsMovedError when the balances in `holding` are out of date; DomainError
 * `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`, `invalid_state` for a
 * frozen account
 */
export const holdBatches = async (
  db: Sql,
  sponsorship: Pick<SponsorshipService, "reserve">,
  holding: Holding,
  now: Date,
): Promise<void> => {
  const { payoutId, projectId, chainId, walletAddress, funds, backing } = holding;
  const holds = holding.batches.map(({ number, token, amountBase }) => ({
    legId: batchName({ payoutId, number }),
    walletAddress,
    chainId,
    token,
    amountBase,
  }));
  await backing?.lock(db, funds);
  await requireFunds(db, { holds, funds, now });
  await insertHolds(db, { operationId: payoutId, projectId, holds, now });
  // The account is debited before the reserves are checked, because the money that leaves the
  // account is held and needs no backing any more.
  if (holding.account !== null)
    await debitAccount(db, { projectId, payoutId, account: holding.account, now });
  await backing?.check(db);
  await reserveSponsor(db, sponsorship, holding, now);
};

/**
 * Cancels the batches that are not signed yet, and releases their holds. The caller must have
 * locked the payout's row.
 * @param isHeld whether the payout's money is held and its account was debited
 * @returns the number of cancelled batches
 */
export const releaseBatches = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  {
    projectId,
    payoutId,
    isHeld,
    now,
  }: { projectId: string; payoutId: string; isHeld: boolean; now: Date },
): Promise<number> => {
  const stopped = await tx.walletPayoutBatch.updateManyAndReturn({
    where: { projectId, payoutId, state: "queued" },
    data: { state: "cancelled", updatedAt: now },
  });
  const { chainId } = await tx.walletPayout.findUniqueOrThrow({
    where: { projectId_payoutId: { projectId, payoutId } },
  });
  // Sorts the batches by token, because all transactions lock balances in the order of their names,
  // and the names of one payout's balances differ only in the token.
  const ordered = [...stopped].sort((one, other) =>
    one.token === other.token ? one.number - other.number : one.token < other.token ? -1 : 1,
  );
  for (const { number } of ordered)
    await syncHold(tx, batchName({ payoutId, number }), false, now);
  const bearer = isHeld ? await bearerOf(tx, projectId, payoutId) : null;
  for (const { number, version, token, amountBase } of ordered) {
    const ended = {
      part: batchVersion({ number, version }),
      token,
      returnedBase: toBigInt(amountBase),
    };
    await settleAccount(sqlOf(tx), { projectId, payoutId, bearer, ...ended, now });
  }
  const reserved = stopped.flatMap(({ sponsorReservedWei, sponsorDay, gasCostWei }) =>
    sponsorReservedWei === null || sponsorDay === null
      ? []
      : [
          {
            projectId,
            chainId,
            day: sponsorDay,
            reservedWei: toBigInt(sponsorReservedWei),
            spentWei: toBigInt(gasCostWei),
          },
        ],
  );
  await sponsorship.settle(tx, reserved);
  return stopped.length;
};
