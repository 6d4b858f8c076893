/** What a batch takes of its project's sponsor budget. A reservation is a part of the batch's row, and ends when the batch does. */
import type { Tx } from "@/lib/db/client";
import { toDecimal } from "@/lib/db/decimal";
import type { Reservation, SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { PayoutBatch } from "./payout-batch";

interface Reserved {
  readonly payout: { readonly projectId: string; readonly chainId: number };
  readonly batch: PayoutBatch;
}

/** Null where the sponsor pays nothing for the batch. */
const reservationOf = ({ payout, batch }: Reserved): Reservation | null =>
  batch.sponsorReservedWei === null || batch.sponsorDay === null
    ? null
    : {
        projectId: payout.projectId,
        chainId: payout.chainId,
        day: batch.sponsorDay,
        reservedWei: batch.sponsorReservedWei,
      };

/** It was signed at another price than it was accepted at. @throws DomainError `sponsor_budget_exceeded` */
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
  // Last, because all who spend of the project's budget wait for each other from here on.
  await sponsorship.adjust(tx, reservation, { toWei, operation: { kind: "payout", othersWei: 0n } });
};

/** `spentWei` was spent over all attempts, and the rest is free again. */
export const settleReservation = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "settle">,
  { payout, batch, spentWei }: Reserved & { spentWei: bigint },
): Promise<void> => {
  const reservation = reservationOf({ payout, batch });
  if (reservation !== null) await sponsorship.settle(tx, [{ ...reservation, spentWei }]);
};
