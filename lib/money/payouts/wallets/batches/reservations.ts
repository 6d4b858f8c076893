/**
 * Changes the reservations of batches in the project's sponsor budget. A reservation is stored in
 * its batch's row and ends with the batch.
 */
import type { Tx } from "@/lib/platform/db/client";
import { toDecimal } from "@/lib/platform/db/decimal";
import type { Reservation, SponsorshipService } from "@/lib/books/sponsorship/service";
import type { PayoutBatch } from "./payout-batch";

interface Reserved {
  readonly payout: { readonly projectId: string; readonly chainId: number };
  readonly batch: PayoutBatch;
}

/** Returns the reservation of a batch; null when the sponsor does not pay for the batch. */
const reservationOf = ({ payout, batch }: Reserved): Reservation | null =>
  batch.sponsorReservedWei === null || batch.sponsorDay === null
    ? null
    : {
        projectId: payout.projectId,
        chainId: payout.chainId,
        day: batch.sponsorDay,
        reservedWei: batch.sponsorReservedWei,
      };

/**
 * Changes the reservation of a batch to the price that is signed.
 * @throws DomainError `sponsor_budget_exceeded`
 */
export const adjustReservation = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "adjust">,
  { payout, batch, toWei }: Reserved & { toWei: bigint },
): Promise<void> => {
  const reservation = reservationOf({ payout, batch });
  if (reservation === null || reservation.reservedWei === toWei) return;
  const { projectId, payoutId, number } = batch;
  await tx.walletPayoutBatch.update({
    where: { projectId_payoutId_number: { projectId, payoutId, number } },
    data: { sponsorReservedWei: toDecimal(toWei) },
  });
  // The budget's row is locked last, because all other transactions that spend from the project's
  // budget wait until this one ends.
  await sponsorship.adjust(tx, reservation, {
    toWei,
    operation: { kind: "payout", othersWei: 0n },
  });
};

/**
 * Ends the reservation of a batch. `spentWei` is the cost of all attempts; the rest becomes
 * available again.
 */
export const settleReservation = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  { payout, batch, spentWei }: Reserved & { spentWei: bigint },
): Promise<void> => {
  const reservation = reservationOf({ payout, batch });
  if (reservation !== null) await sponsorship.settle(tx, [{ ...reservation, spentWei }]);
};
