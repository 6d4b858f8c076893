/** Reservations of the project's sponsor budget. A reservation is a part of its leg's row and ends with the leg. */
import type { Reservation } from "@/lib/modules/sponsorship/service";
import type { Leg } from "./leg";

type Reserving = Pick<Leg, "sourceChainId" | "sponsorReservedWei" | "sponsorDay">;

/** Null when the sponsor pays nothing for the leg. */
export const reservationOf = (
  { projectId }: { readonly projectId: string },
  { sourceChainId, sponsorReservedWei, sponsorDay }: Reserving,
): Reservation | null =>
  sponsorReservedWei === null || sponsorDay === null
    ? null
    : { projectId, chainId: sourceChainId, day: sponsorDay, reservedWei: sponsorReservedWei };
