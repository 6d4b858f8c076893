/** Holds the money of a payout to wallets and reserves its part of the sponsor's budget: one hold and one reservation per batch. */
import type { Tx } from "@/lib/db/client";
import { toBigInt } from "@/lib/db/decimal";
import { sqlOf } from "@/lib/db/sql";
import { reserveFunds, syncHold, type Funds } from "@/lib/modules/holds/service";
import { checkBacking, type Backing } from "@/lib/modules/reserves/service";
import { dayOf, type GasCost, type SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { BearingAccount } from "./account-side";
import { batchVersion } from "./batches/payout-batch";
import { bearerOf, debitAccount, settleAccount } from "./account-side-repository";
import { holdIdOf } from "./rows";

/** The kind of a batch in sponsor budgets, which count each batch of a payout as a separate operation. */
export const SPONSORED_KIND = "payout";

export interface BatchHold {
  readonly number: number;
  /** Lower-case address, or `native`. */
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
  /** The balance that must stay in the treasury to back global accounts; null when the payout spends no such token. */
  readonly backing: Backing | null;
  /** The account that bears the payout, which is debited together with the hold; null: the project bears it. */
  readonly account: BearingAccount | null;
  /** Costs with the ids of `holdIdOf`; empty when the wallet pays for itself. */
  readonly costs: readonly GasCost[];
}

const STORE_RESERVATIONS = `
  UPDATE wallet_payout_batch b SET sponsor_reserved_wei = (row->>1)::numeric, sponsor_day = $4::date
  FROM json_array_elements($3::json) AS element (row)
  WHERE b.project_id = $1 AND b.payout_id = $2 AND b.number = (row->>0)::int`;

const reserveSponsor = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "reserve">,
  { payoutId, projectId, batches, costs }: Holding,
  now: Date,
): Promise<void> => {
  if (costs.length === 0) return;
  const wei = new Map(costs.map(({ legId, maxWei }) => [legId, maxWei]));
  const rows = batches.flatMap(({ number }) => {
    const maxWei = wei.get(holdIdOf(payoutId, number));
    return maxWei === undefined ? [] : [[number, maxWei.toString()]];
  });
  const day = dayOf(now).toISOString().slice(0, 10);
  await sqlOf(tx).change(STORE_RESERVATIONS, [projectId, payoutId, JSON.stringify(rows), day]);
  // Last in the transaction, because from here on all others that spend from the project's budget wait.
  await sponsorship.reserve(sqlOf(tx), { projectId, kind: SPONSORED_KIND, costs }, now);
};

/**
 * Holds the money of the batches, and debits the account that bears them. Takes its locks in the same order as operations do, which prevents deadlocks.
 * @throws FundsMovedError, DomainError `insufficient_balance`, `insufficient_reserves`, `sponsor_budget_exceeded`, `invalid_state` for a
 * frozen account
 */
export const holdBatches = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "reserve">,
  holding: Holding,
  now: Date,
): Promise<void> => {
  const { payoutId, projectId, chainId, walletAddress, funds, backing } = holding;
  const holds = holding.batches.map(({ number, token, amountBase }) => ({
    legId: holdIdOf(payoutId, number),
    walletAddress,
    chainId,
    token,
    amountBase,
  }));
  const sql = sqlOf(tx);
  await backing?.lock(sql, funds);
  await reserveFunds(tx, { operationId: payoutId, projectId, holds, funds, now });
  // Before the reserves are compared: what the account does not hold any more needs no backing beside the hold.
  if (holding.account !== null) await debitAccount(sql, { projectId, payoutId, account: holding.account, now });
  await checkBacking(sql, backing);
  await reserveSponsor(tx, sponsorship, holding, now);
};

/**
 * Ends batches that were not signed, and releases their holds. The caller has locked the payout's row.
 * @param isHeld whether the payout's money is held, and its account was debited
 * @returns the number of batches
 */
export const releaseBatches = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  { projectId, payoutId, isHeld, now }: { projectId: string; payoutId: string; isHeld: boolean; now: Date },
): Promise<number> => {
  const stopped = await tx.walletPayoutBatch.updateManyAndReturn({
    where: { projectId, payoutId, state: "queued" },
    data: { state: "cancelled", updatedAt: now },
  });
  const { chainId } = await tx.walletPayout.findUniqueOrThrow({
    where: { projectId_payoutId: { projectId, payoutId } },
  });
  // Balances are locked in the order of their names, which differ only in the token.
  const ordered = [...stopped].sort((one, other) =>
    one.token === other.token ? one.number - other.number : one.token < other.token ? -1 : 1,
  );
  for (const { number } of ordered) await syncHold(tx, holdIdOf(payoutId, number), false, now);
  const bearer = isHeld ? await bearerOf(tx, projectId, payoutId) : null;
  for (const { number, version, token, amountBase } of ordered) {
    const ended = { part: batchVersion({ number, version }), token, returnedBase: toBigInt(amountBase) };
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
