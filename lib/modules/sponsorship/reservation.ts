/** The reservation that a leg's row stores. */
export interface Reservation {
  readonly projectId: string;
  readonly chainId: number;
  /** The UTC day whose budget contains the reservation. */
  readonly day: Date;
  readonly reservedWei: bigint;
}

/** The end of a leg's reservation, or its change to another price. */
export type ReservationChange =
  | { readonly reservation: Reservation; readonly spentWei: bigint }
  | {
      readonly reservation: Reservation;
      readonly toWei: bigint;
      /** The operation's kind, and the wei that its other legs on the chain have reserved. */
      readonly operation: { readonly kind: string; readonly othersWei: bigint };
    };
