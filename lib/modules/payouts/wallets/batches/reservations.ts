/** Reservations of batches in the project's sponsor budget. A reservation is stored in the batch's row, and ends with the batch. */
import type { Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import type { Reservation, SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { PayoutBatch } from "./payout-batch";

interface Reserved {
  readonly payout: { readonly projectId: string; readonly chainId: number };
  readonly batch: PayoutBatch;
}

/** The reservation of a batch; null when the sponsor does not pay for the batch. */
const reservationOf = ({ payout, batch }: Reserved): Reservation | null =>
  batch.sponsorReservedWei === null || batch.sponsorDay === null
    ? null
    : {
        projectId: payout.projectId,
        chainId: payout.chainId,
        day: batch.sponsorDay,
        reservedWei: batch.sponsorReservedWei,
      };

/** Changes the reservation when the batch is signed at another price. @throws DomainError `sponsor_budget_exceeded` */
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
  // Last in the transaction, because from here on all others that spend from the project's budget wait.
  await sponsorship.adjust(tx, reservation, { toWei, operation: { kind: "payout", othersWei: 0n } });
};

/** Ends the reservation. `spentWei` is the cost of all attempts; the rest is free again. */
export const settleReservation = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  { payout, batch, spentWei }: Reserved & { spentWei: bigint },
): Promise<void> => {
  const reservation = reservationOf({ payout, batch });
  if (reservation !== null) await sponsorship.settle(tx, [{ ...reservation, spentWei }]);
};
