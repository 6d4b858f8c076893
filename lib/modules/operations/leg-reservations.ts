/** Reservations of the project's sponsor budget. A reservation is a part of its leg's row and ends with the leg. */
import type { Tx } from "@/lib/db/client";
import { toBigIntOrNull, toDecimal } from "@/lib/db/decimal";
import type { Reservation, SponsorshipService } from "@/lib/modules/sponsorship/service";
import type { Leg } from "./leg";
import { isLegFinal, type LegState } from "./summary";

type Reserving = Pick<Leg, "sourceChainId" | "sponsorReservedWei" | "sponsorDay">;
type ReservedLeg = Reserving & Pick<Leg, "id" | "operationId">;

interface Moved {
  readonly operation: { readonly projectId: string; readonly kind: string };
  readonly move: { readonly leg: ReservedLeg; readonly to: LegState; readonly maxGasWei?: bigint };
}

/** Null when the sponsor pays nothing for the leg. */
export const reservationOf = (
  { projectId }: { readonly projectId: string },
  { sourceChainId, sponsorReservedWei, sponsorDay }: Reserving,
): Reservation | null =>
  sponsorReservedWei === null || sponsorDay === null
    ? null
    : { projectId, chainId: sourceChainId, day: sponsorDay, reservedWei: sponsorReservedWei };

/**
 * The cost of a leg for the budget. A leg that was never mined costs nothing. A mined leg without a stored cost costs
 * its whole reservation. The stored cost is read again, because another step may have stored it since the leg was read.
 */
const spentOn = async (tx: Tx, { id }: ReservedLeg, { reservedWei }: Reservation): Promise<bigint> => {
  const select = { sourceTxHash: true, gasCostWei: true };
  const { sourceTxHash, gasCostWei } = await tx.operationLeg.findUniqueOrThrow({ where: { id }, select });
  return sourceTxHash === null ? 0n : (toBigIntOrNull(gasCostWei) ?? reservedWei);
};

/** The sum reserved for the other legs of the operation on the same chain, in wei. */
const reservedForOthers = async (tx: Tx, { id, operationId, sourceChainId }: ReservedLeg): Promise<bigint> => {
  const others = await tx.operationLeg.aggregate({
    where: { operationId, sourceChainId, id: { not: id } },
    _sum: { sponsorReservedWei: true },
  });
  return toBigIntOrNull(others._sum.sponsorReservedWei) ?? 0n;
};

/**
 * Adjusts the reservation when a leg moves, in the same transaction: settles it when the leg has ended, and changes it
 * when the leg was signed at another price. The caller holds the lock of the operation's row.
 * @throws DomainError `sponsor_budget_exceeded`
 */
export const moveReservation = async (
  tx: Tx,
  sponsorship: Pick<SponsorshipService, "adjust" | "settle">,
  { operation, move: { leg, to, maxGasWei } }: Moved,
): Promise<void> => {
  const reservation = reservationOf(operation, leg);
  if (reservation === null) return;
  if (isLegFinal(to)) {
    await sponsorship.settle(tx, [{ ...reservation, spentWei: await spentOn(tx, leg, reservation) }]);
    return;
  }
  if (maxGasWei === undefined || maxGasWei === reservation.reservedWei) return;
  const othersWei = await reservedForOthers(tx, leg);
  await sponsorship.adjust(tx, reservation, { toWei: maxGasWei, operation: { kind: operation.kind, othersWei } });
  await tx.operationLeg.update({ where: { id: leg.id }, data: { sponsorReservedWei: toDecimal(maxGasWei) } });
};
