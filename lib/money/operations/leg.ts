import type { UserOperationGas } from "@/lib/chain/ports/bundler";
import type { RouteLeg } from "@/lib/money/ports/routing";
import { toStored } from "@/lib/platform/db/codecs";
import type { RowOf } from "@/lib/platform/db/table";
import { storedGas } from "@/lib/chain/erc4337/stored";
import { storedRouteLeg } from "@/lib/money/ports/routing-json";
import { legs } from "./rows";
import type { Reservation } from "@/lib/books/sponsorship/service";

export interface Leg extends Omit<RowOf<typeof legs>, "gas"> {
  /**
   * Gas limits from the simulation at prepare time; null when a wallet sends its own transactions.
   */
  readonly gas: UserOperationGas | null;
}

/** Converts the route to the form it has after being stored as JSON and parsed again. */
export const asStoredRouteLeg = (routeLeg: RouteLeg): RouteLeg =>
  storedRouteLeg.parse(toStored(routeLeg));

/** The fields of a leg, except its state, that a step may change. Null clears a column. */
export type LegChange = Partial<
  Omit<
    Leg,
    | "projectId"
    | "id"
    | "operationId"
    | "position"
    | "state"
    | "version"
    | "updatedAt"
    | "sponsorReservedWei"
    | "sponsorDay"
  >
>;

/**
 * Converts a row of the table `operation_leg`.
 * @throws ZodError when the gas limits do not have the expected shape
 */
export const legFrom = ({ gas, ...leg }: RowOf<typeof legs>): Leg => ({
  ...leg,
  gas: leg.via === "transaction" ? null : storedGas.parse(gas),
});

/**
 * Parses a row of the table `operation_leg`.
 * @throws ZodError when a stored column does not have the expected shape
 */
export const parseLeg = (row: object): Leg => legFrom(legs.read(row));

// Reservations of the project's sponsor budget. A leg's row stores its reservation, which ends with
// the leg.

type Reserving = Pick<Leg, "sourceChainId" | "sponsorReservedWei" | "sponsorDay">;

/** Returns the leg's reservation; null when the sponsor pays nothing for the leg. */
export const reservationOf = (
  { projectId }: { readonly projectId: string },
  { sourceChainId, sponsorReservedWei, sponsorDay }: Reserving,
): Reservation | null =>
  sponsorReservedWei === null || sponsorDay === null
    ? null
    : { projectId, chainId: sourceChainId, day: sponsorDay, reservedWei: sponsorReservedWei };
